import { METERED_UNTIL, METERING_LABEL, METERING_NAMESPACE, readRows } from '../../api/tenantry.dev/v1alpha1/metering.ts';
import { ConfigMap } from '../../client/kinds.ts';
import { attempting } from '../terminal/explain.ts';
import type { Session } from '../terminal/session.ts';
import { formatTable } from '../terminal/table.ts';
import { csvOf, periodOf, REPORT_HEADER, reportCells, usageIn, type Period, type ReportLine } from './report-lines.ts';

export interface ReportFlags {
  from?: string;
  to?: string;
  output?: string;
}

const FORMATS = ['table', 'csv', 'json'];

/** What one tenant, or each, used in a period. */
export async function report(session: Session, tenant: string | undefined, flags: ReportFlags): Promise<number> {
  const format = flags.output ?? 'table';
  if (!FORMATS.includes(format)) throw new Error(`Cannot print as "${format}": a report is ${FORMATS.join(', ')}; choose one of them`);
  const period = periodOf(flags, session.clock.now());
  const where = { server: session.cluster.server, namespace: METERING_NAMESPACE };
  const records = await attempting(tenant === undefined ? 'report on tenants' : `report on tenant "${tenant}"`, where, () =>
    session.cluster.client
      .resource(ConfigMap, METERING_NAMESPACE)
      .listAll({ labelSelector: tenant === undefined ? METERING_LABEL : `${METERING_LABEL}=${tenant}` }),
  );
  const lines = usageIn(
    period,
    records.items.map(({ metadata, data }) => ({ tenant: metadata.labels![METERING_LABEL], rows: readRows(data) })),
  );
  print(session, format, period, lines);
  if (lines.length === 0) session.err('Nothing is on record for this time; what tenants use is recorded every minute\n');
  else if (format === 'table') session.err(footer(records.items.map(({ metadata }) => metadata.annotations?.[METERED_UNTIL])));
  return 0;
}

function print(session: Session, format: string, { from, to }: Period, lines: ReportLine[]): void {
  const [since, until] = [from, to].map((time) => new Date(time).toISOString());
  if (format === 'json') session.out(`${JSON.stringify({ from: since, to: until, usage: lines }, null, 4)}\n`);
  else if (format === 'csv') session.out(csvOf(since, until, lines));
  else if (lines.length > 0)
    for (const line of formatTable(REPORT_HEADER, lines.map(reportCells), { isColoured: session.isColoured })) session.out(`${line}\n`);
}

function footer(ends: (string | undefined)[]): string {
  const last = ends
    .filter((end) => end !== undefined)
    .sort()
    .at(-1);
  return last === undefined ? '' : `\nOn record until ${last.slice(0, 19)}Z\n`;
}
