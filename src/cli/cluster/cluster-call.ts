import { TenantClusterKind, type TenantCluster } from '../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { ResourceClient } from '../../client/resource-client.ts';
import { isStatusError } from '../../kube/status.ts';
import { attempting } from '../terminal/explain.ts';
import type { Session } from '../terminal/session.ts';

export function clustersOf(session: Session): ResourceClient<TenantCluster> {
  return session.cluster.client.resource(TenantClusterKind, session.namespace);
}

/** Does something to clusters and says what failed. A refusal of the bounds is a whole sentence already. */
export async function calling<T>(session: Session, doing: string, work: () => Promise<T>): Promise<T> {
  const where = { server: session.cluster.server, namespace: session.namespace };
  return attempting(doing, where, async () => {
    try {
      return await work();
    } catch (error) {
      const refusal = isStatusError(error, 'Forbidden') && /denied the request: (Cannot .*)$/s.exec(error.message)?.[1];
      if (typeof refusal === 'string') throw new Error(refusal, { cause: error });
      if (isStatusError(error, 'NotFound') && error.status.details?.kind === TenantClusterKind.plural) {
        const message = `Cannot ${doing}: there is none in namespace "${session.namespace}"; \`tenantry cluster list -A\` shows what there is`;
        throw new Error(message, { cause: error });
      }
      throw error;
    }
  });
}

/** Changes the spec of a cluster, whatever others change meanwhile. */
export function changeSpec(
  session: Session,
  doing: string,
  name: string,
  change: (cluster: TenantCluster) => Record<string, unknown>,
): Promise<TenantCluster> {
  const clusters = clustersOf(session);
  return calling(session, doing, async () => {
    for (;;) {
      const cluster = await clusters.get(name);
      const { resourceVersion } = cluster.metadata;
      try {
        return await clusters.patch(name, { type: 'merge', patch: { metadata: { resourceVersion }, spec: change(cluster) } });
      } catch (error) {
        if (!isStatusError(error, 'Conflict')) throw error;
      }
    }
  });
}
