import {
  CLUSTER_LABEL,
  ClusterCondition,
  ClusterReason,
  KUBECONFIG_KEY,
  kubeconfigSecretOf,
} from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { API_VERSION } from '../../../../api/tenantry.dev/v1alpha1/group.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { StatusError } from '../../../../kube/status.ts';
import { errorText } from '../../../../lib/log.ts';
import { kubeconfigText } from '../../../../lib/pki/kubeconfig.ts';
import { done, waiting } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { ownersBinding } from '../../add-ons/built-in-add-ons.ts';
import { installAddOns } from '../../add-ons/install-add-ons.ts';
import type { RunningControlPlane } from '../../control-plane/control-planes.ts';
import type { ClusterPorts } from '../cluster.steps.ts';
import { forgetAuthorities } from '../forget-authorities.ts';

const RETRY_MS = 2000;

/** The owners have the rights, and find their kubeconfig in a Secret. */
export function accessGranted(ports: Pick<ClusterPorts, 'running' | 'connection' | 'keepSecret'>): Step<TenantCluster> {
  /** Connections to control planes whose authorities of before are gone everywhere: with others there is another connection. */
  const cleaned = new WeakSet<object>();
  return {
    name: ClusterCondition.AccessGranted,
    async run(cluster) {
      const running = ports.running(cluster)!;
      const connection = await ports.connection(cluster);
      let refused: string | undefined;
      if (running.authorities?.forgotten !== undefined && !cleaned.has(connection)) {
        refused = await refusalOf(forgetAuthorities(connection.tenantClient, running));
        if (refused === undefined) cleaned.add(connection);
      }
      const { problems } = await installAddOns([ownersBinding(running.ownerGroup)], connection);
      // Whatever was refused: whoever is to change that needs a kubeconfig that is valid.
      await ports.keepSecret(kubeconfigSecret(cluster, running));
      cluster.status = { ...cluster.status, kubeconfig: kubeconfigSecretOf(cluster.metadata.name!) };
      if (problems.length > 0)
        return waiting(ClusterReason.AddOnRefused, `the owners cannot be given their rights: ${problems[0].message}`, RETRY_MS);
      if (refused !== undefined)
        return waiting(
          ClusterReason.AddOnRefused,
          `its extension API servers cannot be told which authorities are revoked: ${refused}`,
          RETRY_MS,
        );
      return done('Granted', `the kubeconfig is in Secret "${kubeconfigSecretOf(cluster.metadata.name!)}"`);
    },
  };
}

/** What its API server says to it, or a webhook of its administrators. */
async function refusalOf(written: Promise<void>): Promise<string | undefined> {
  try {
    await written;
    return undefined;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return errorText(error);
  }
}

export function kubeconfigSecret({ metadata }: TenantCluster, running: RunningControlPlane): KubeObject {
  const text = kubeconfigText({
    server: running.endpoint,
    authorityPem: running.authorityPem,
    credentials: running.owner,
    cluster: metadata.name!,
    user: `${metadata.name}-admin`,
  });
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: kubeconfigSecretOf(metadata.name!),
      namespace: metadata.namespace!,
      labels: { [CLUSTER_LABEL]: metadata.name! },
      // It stays where it is: whoever may read the Secrets of a namespace below is no administrator by that.
      annotations: { 'propagate.hnc.x-k8s.io/none': 'true' },
      ownerReferences: [{ apiVersion: API_VERSION, kind: 'TenantCluster', name: metadata.name!, uid: metadata.uid!, controller: true }],
    },
    type: 'Opaque',
    data: { [KUBECONFIG_KEY]: Buffer.from(text).toString('base64') },
  };
}
