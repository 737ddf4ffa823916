import { PluginInstallationKind, type PluginInstallation } from '../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { ageOf } from '../../kube/age.ts';
import { attempting } from '../terminal/explain.ts';
import { isForPeople, outputFormat, printBlock, printObjects } from '../terminal/print.ts';
import type { Session } from '../terminal/session.ts';
import { formatTable, type Cell } from '../terminal/table.ts';

/** All there is to know of a plugin of a tenant. */
export async function get(session: Session, name: string, flags: { tenant: string; output?: string }): Promise<number> {
  const format = outputFormat(flags.output);
  const where = { server: session.cluster.server, namespace: flags.tenant };
  const installation = await attempting(`show plugin "${name}"`, where, () =>
    session.cluster.client.resource(PluginInstallationKind, flags.tenant).get(name),
  );
  if (!isForPeople(format)) await printObjects(session, format, PluginInstallationKind, installation);
  else describe(session, installation);
  return 0;
}

function describe(session: Session, { metadata, spec, status = {} }: PluginInstallation): void {
  printBlock(session, [
    ['Name', metadata.name],
    ['Tenant', metadata.namespace],
    ['Plugin', `${spec.publisher}/${spec.plugin}`],
    ['Version', status.version],
    ['Wanted', status.target?.version === status.version ? undefined : status.target?.version],
    ['Phase', status.phase],
    ['Reason', status.reason],
    ['Message', status.message],
    ['Requests', requestsOf(status.gateway?.routes)],
    ['Gateway path', status.gateway?.routes ? `/${metadata.namespace}/${spec.plugin}/` : undefined],
    ['Namespace', status.namespace],
    ['Image', status.image],
    ['Image status', status.imageStatus],
    ['Age', ageOf(metadata.creationTimestamp, new Date(session.clock.now()))],
  ]);
  const history = (status.history ?? []).map(({ version, since, until, isKnownGood, reason }) => [
    version,
    since,
    until ?? '',
    isKnownGood ? 'yes' : `no${reason ? ` (${reason})` : ''}`,
  ]);
  printTable(session, 'History', ['VERSION', 'SINCE', 'UNTIL', 'GOOD'], history);
  const conditions = (status.conditions ?? []).map((each) => [
    each.type,
    { text: each.status, colour: each.status === 'True' ? ('green' as const) : ('yellow' as const) },
    each.reason,
    each.message,
  ]);
  printTable(session, 'Conditions', ['TYPE', 'STATUS', 'REASON', 'MESSAGE'], conditions);
}

/** Who gets how many of them, while it is more than one. */
function requestsOf(routes: { version: string; weight: number }[] = []): string | undefined {
  return routes.length < 2 ? undefined : routes.map(({ version, weight }) => `${weight} % to ${version}`).join(', ');
}

function printTable(session: Session, title: string, header: string[], rows: Cell[][]): void {
  if (rows.length === 0) return;
  session.out(`\n${title}:\n`);
  for (const line of formatTable(header, rows, { isColoured: session.isColoured })) session.out(`  ${line}\n`);
}
