import { TenantClusterKind } from '../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { outputFormat, printList } from '../terminal/print.ts';
import type { Session } from '../terminal/session.ts';
import { calling, clustersOf } from './cluster-call.ts';
import { clusterColumns } from './cluster-columns.ts';

export async function list(session: Session, flags: { allNamespaces?: boolean; selector?: string; output?: string }): Promise<number> {
  const format = outputFormat(flags.output);
  const all = flags.allNamespaces === true;
  const clusters = all ? session.cluster.client.resource(TenantClusterKind) : clustersOf(session);
  const { items } = await calling(session, 'list clusters', () => clusters.list({ labelSelector: flags.selector }));
  const where = all ? '' : ` in namespace "${session.namespace}"`;
  const nothing = `There are no clusters${where}; \`tenantry cluster create dev -n <tenant>\` makes one`;
  await printList(session, format, TenantClusterKind, items, clusterColumns(new Date(session.clock.now()), all), nothing);
  return 0;
}
