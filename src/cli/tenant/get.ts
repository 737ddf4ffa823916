import { TenantKind, type Tenant } from '../../api/tenantry.dev/v1alpha1/tenant.ts';
import { ageOf } from '../../kube/age.ts';
import { attempting } from '../terminal/explain.ts';
import { isForPeople, outputFormat, printBlock, printObjects } from '../terminal/print.ts';
import type { Session } from '../terminal/session.ts';
import { formatTable } from '../terminal/table.ts';
import { isolationText, ownersText } from './tenant-columns.ts';
import { usageRows, USAGE_HEADER } from './usage-rows.ts';

/** All there is to know of a tenant. */
export async function get(session: Session, name: string, flags: { output?: string }): Promise<number> {
  const format = outputFormat(flags.output);
  const where = { server: session.cluster.server, namespace: session.namespace };
  const tenant = await attempting(`show tenant "${name}"`, where, () => session.cluster.client.resource(TenantKind).get(name));
  if (!isForPeople(format)) await printObjects(session, format, TenantKind, tenant);
  else describe(session, tenant);
  return 0;
}

function describe(session: Session, tenant: Tenant): void {
  const { metadata, spec, status } = tenant;
  printBlock(session, [
    ['Name', metadata.name],
    ['Phase', status?.phase],
    ['Age', ageOf(metadata.creationTimestamp, new Date(session.clock.now()))],
    ['Owners', ownersText(tenant)],
    ['Isolation', isolationText(tenant)],
    ['Nodes', status?.nodes?.join('\n')],
    ['Pod security', spec?.podSecurity],
    ['Namespaces', status?.namespaces?.join('\n')],
    ['Gone after', status?.deletionTime],
  ]);
  const usage = usageRows(tenant);
  if (usage.length > 0) {
    session.out('\nQuota:\n');
    for (const line of formatTable(USAGE_HEADER, usage, { isColoured: session.isColoured })) session.out(`  ${line}\n`);
  }
  const conditions = (status?.conditions ?? []).map((each) => [
    each.type,
    { text: each.status, colour: each.status === 'True' ? ('green' as const) : ('yellow' as const) },
    each.reason,
    each.message,
  ]);
  if (conditions.length === 0) return;
  session.out('\nConditions:\n');
  for (const line of formatTable(['TYPE', 'STATUS', 'REASON', 'MESSAGE'], conditions, { isColoured: session.isColoured }))
    session.out(`  ${line}\n`);
}
