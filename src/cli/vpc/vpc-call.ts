import { VpcKind, type Vpc } from '../../api/tenantry.dev/v1alpha1/vpc.ts';
import type { ResourceClient } from '../../client/resource-client.ts';
import { isStatusError } from '../../kube/status.ts';
import { calling } from '../cluster/cluster-call.ts';
import type { Session } from '../terminal/session.ts';

export function vpcsOf(session: Session): ResourceClient<Vpc> {
  return session.cluster.client.resource(VpcKind, session.namespace);
}

/** The VPC of the tenant, which is called like it. */
export function vpcOf(session: Session, doing: string): Promise<Vpc> {
  return calling(session, doing, async () => {
    try {
      return await vpcsOf(session).get(session.namespace);
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
      const message = `Cannot ${doing}: tenant "${session.namespace}" has none; \`tenantry vpc create -n <tenant>\` makes one, and so does its first cluster with workers`;
      throw new Error(message, { cause: error });
    }
  });
}
