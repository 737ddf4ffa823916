import { TenantClusterKind, type TenantCluster } from '../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { ageOf } from '../../kube/age.ts';
import { isForPeople, outputFormat, printBlock, printObjects } from '../terminal/print.ts';
import type { Session } from '../terminal/session.ts';
import { formatTable } from '../terminal/table.ts';
import { calling, clustersOf } from './cluster-call.ts';
import { sizeText } from './size-text.ts';

/** All there is to know of a cluster. */
export async function get(session: Session, name: string, flags: { output?: string }): Promise<number> {
  const format = outputFormat(flags.output);
  const cluster = await calling(session, `show cluster "${name}"`, () => clustersOf(session).get(name));
  if (!isForPeople(format)) await printObjects(session, format, TenantClusterKind, cluster);
  else describe(session, cluster);
  return 0;
}

function describe(session: Session, { metadata, status, spec }: TenantCluster): void {
  const now = new Date(session.clock.now());
  printBlock(session, [
    ['Name', metadata.name],
    ['Tenant', metadata.namespace],
    ['Phase', status?.phase],
    ['Progress', status?.progress],
    ['Age', ageOf(metadata.creationTimestamp, now)],
    ['Kubernetes', status?.version],
    ['Control plane', status?.provider],
    ['Endpoint', status?.endpoint],
    ['Network', status?.network && `subnet ${status.network.subnet} (${status.network.cidr}) of VPC ${status.network.vpc}`],
    ['Kubeconfig', status?.kubeconfig && `Secret ${status.kubeconfig}`],
    ['Certificates', status?.certificatesExpire && `renewed long before ${status.certificatesExpire}`],
    ['Authorities', authoritiesText(status?.authorities)],
    ['Node pools', spec.nodePools?.map((pool) => `${pool.name}: ${pool.replicas}`).join('\n')],
    ['Add-ons', status?.addOns?.join(', ')],
    ['Bounds', boundsText(status?.bounds)],
  ]);
  const table = (title: string, header: string[], rows: Parameters<typeof formatTable>[1]) => {
    if (rows.length === 0) return;
    session.out(`\n${title}:\n`);
    for (const line of formatTable(header, rows, { isColoured: session.isColoured })) session.out(`  ${line}\n`);
  };
  table(
    'Workers',
    ['NAME', 'POOL', 'PHASE', 'ADDRESS', 'MACHINE', 'ISOLATION', 'SINCE', 'MESSAGE'],
    (status?.workers ?? []).map(({ name, pool, phase, address, provider, isolation, since, message }) => [
      name,
      pool,
      { text: phase ?? '', colour: phase === 'Ready' ? ('green' as const) : ('yellow' as const) },
      address,
      provider ?? '',
      isolation ?? '',
      since === undefined ? '' : ageOf(since, now),
      message ?? '',
    ]),
  );
  table(
    'Backups',
    ['NAME', 'MADE', 'SIZE'],
    (status?.backups ?? []).map((backup) => [backup.name, `${ageOf(backup.time, now)} ago`, sizeText(backup.bytes)]),
  );
  table(
    'Conditions',
    ['TYPE', 'STATUS', 'REASON', 'MESSAGE'],
    (status?.conditions ?? []).map((each) => [
      each.type,
      { text: each.status, colour: each.status === 'True' ? ('green' as const) : ('yellow' as const) },
      each.reason,
      each.message,
    ]),
  );
}

function authoritiesText(authorities: NonNullable<TenantCluster['status']>['authorities']): string | undefined {
  if (authorities === undefined) return undefined;
  const { edition, expire, formerTrustedUntil } = authorities;
  const former = formerTrustedUntil === undefined ? '' : `; those of before are trusted until ${formerTrustedUntil}`;
  return `edition ${edition}, replaced long before ${expire}${former}`;
}

function boundsText(bounds: NonNullable<TenantCluster['status']>['bounds']): string | undefined {
  if (bounds === undefined) return undefined;
  const { policies = [], clusters, workers, cpu, memory, disk } = bounds;
  const amounts = Object.entries({ clusters, workers, CPU: cpu, memory, disk }).filter(([, text]) => text !== undefined);
  return [...amounts.map(([what, text]) => `${what} ${text}`), `(${policies.join(', ')})`].join(', ').replace(', (', ' (');
}
