import { isStatusError } from '../../kube/status.ts';
import { calling } from '../cluster/cluster-call.ts';
import type { Session } from '../terminal/session.ts';
import { vpcOf, vpcsOf } from './vpc-call.ts';

/** Says, or says no longer, that the tenant's VPC wants to be connected with another's. */
export async function setPeer(session: Session, peer: string, wanted: boolean): Promise<number> {
  const doing = wanted ? `peer with VPC "${peer}"` : `end the peering with VPC "${peer}"`;
  for (;;) {
    const { metadata, spec } = await vpcOf(session, doing);
    const others = (spec.peers ?? []).filter((name) => name !== peer);
    const patch = { metadata: { resourceVersion: metadata.resourceVersion }, spec: { peers: wanted ? [...others, peer] : others } };
    try {
      await calling(session, doing, () => vpcsOf(session).patch(metadata.name!, { type: 'merge', patch }));
      break;
    } catch (error) {
      if (!isStatusError(error, 'Conflict')) throw error;
    }
  }
  if (!wanted) session.out(`VPC ${session.namespace} is no longer peered with ${peer}\n`);
  else session.out(`VPC ${session.namespace} wants to be peered with ${peer}; it is once ${peer} has said so too (tenantry vpc get)\n`);
  return 0;
}
