import { VpcKind } from '../../api/tenantry.dev/v1alpha1/vpc.ts';
import { calling } from '../cluster/cluster-call.ts';
import { outputFormat, printList } from '../terminal/print.ts';
import type { Session } from '../terminal/session.ts';
import { vpcColumns } from './vpc-columns.ts';
import { vpcsOf } from './vpc-call.ts';

export async function list(session: Session, flags: { allNamespaces?: boolean; output?: string }): Promise<number> {
  const format = outputFormat(flags.output);
  const vpcs = flags.allNamespaces === true ? session.cluster.client.resource(VpcKind) : vpcsOf(session);
  const { items } = await calling(session, 'list VPCs', () => vpcs.list());
  const where = flags.allNamespaces === true ? '' : ` in namespace "${session.namespace}"`;
  const nothing = `There are no VPCs${where}; \`tenantry vpc create -n <tenant>\` makes one`;
  await printList(session, format, VpcKind, items, vpcColumns(new Date(session.clock.now())), nothing);
  return 0;
}
