import { MEASURES, startOf, sum, type Amounts, type UsageRows } from '../../api/tenantry.dev/v1alpha1/metering.ts';

export interface Period {
  from: number;
  to: number;
}

export interface ReportLine extends Amounts {
  tenant: string;
  namespace: string;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** From the first of the month until now, unless said otherwise. A day without a time is its beginning, in UTC. */
export function periodOf({ from, to }: { from?: string; to?: string }, now: number): Period {
  const month = `${new Date(now).toISOString().slice(0, 7)}-01`;
  const period = { from: timeOf('--from', from ?? month), to: to === undefined ? now : timeOf('--to', to) };
  if (period.from >= period.to)
    throw new Error(`Cannot report from ${from ?? month} to ${to ?? 'now'}: the period ends before it begins; change --from or --to`);
  return period;
}

function timeOf(flag: string, text: string): number {
  const time = Date.parse(DAY.test(text) ? `${text}T00:00:00Z` : text);
  if (Number.isNaN(time))
    throw new Error(`Cannot read ${flag} "${text}": it is no time; write a day such as 2026-11-01, or a time such as 2026-11-01T08:00:00Z`);
  return time;
}

/**
 * What of the records falls into the period, by tenant and namespace. Hours and days count where they begin, so that the reports of two
 * periods together are that of both.
 */
export function usageIn({ from, to }: Period, records: readonly { tenant: string; rows: UsageRows }[]): ReportLine[] {
  const lines = new Map<string, ReportLine>();
  for (const { tenant, rows } of records) {
    for (const [period, namespaces] of rows) {
      if (startOf(period) < from || startOf(period) >= to) continue;
      for (const [namespace, amounts] of namespaces) {
        const key = `${tenant}/${namespace}`;
        const { tenant: _, namespace: __, ...before } = lines.get(key) ?? { tenant, namespace };
        lines.set(key, { tenant, namespace, ...sum(before, amounts) });
      }
    }
  }
  return [...lines.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => rounded(line));
}

/** As exact as records are. */
function rounded(line: ReportLine): ReportLine {
  const result = { ...line };
  for (const measure of MEASURES) if (line[measure] !== undefined) result[measure] = Math.round(line[measure] * 1e6) / 1e6;
  return result;
}

export const REPORT_HEADER = [
  'TENANT',
  'NAMESPACE',
  'CPU-H',
  'CPU-H USED',
  'MEMORY GIB-H',
  'GIB-H USED',
  'STORAGE GIB-H',
  'RUNS',
  'RUN-S',
  'TOKENS',
];

/** For people: hours, and a dash for what was not there. */
export function reportCells(line: ReportLine): string[] {
  const number = (value: number | undefined, digits: number) => (value === undefined ? '-' : value.toFixed(digits));
  const hours = (seconds: number | undefined) => number(seconds === undefined ? undefined : seconds / 3600, 3);
  return [
    line.tenant,
    line.namespace,
    hours(line.cpuSeconds),
    hours(line.cpuUsedSeconds),
    number(line.memoryGiBHours, 3),
    number(line.memoryUsedGiBHours, 3),
    number(line.storageGiBHours, 3),
    number(line.runs, 0),
    number(line.runSeconds, 1),
    number(line.tokens, 0),
  ];
}

/** For programs: one line per tenant and namespace, units in the names of the columns. */
export function csvOf(from: string, to: string, lines: readonly ReportLine[]): string {
  const header = ['from', 'to', 'tenant', 'namespace', ...MEASURES];
  const rows = lines.map((line) => [from, to, line.tenant, line.namespace, ...MEASURES.map((measure) => String(line[measure] ?? 0))]);
  return [header, ...rows].map((cells) => `${cells.join(',')}\n`).join('');
}
