import { ClusterReason } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { randomSuffix } from '../../../lib/ids.ts';
import { done, waiting, type Outcome } from '../../../runtime/steps/outcome.ts';
import { installAddOns } from '../add-ons/install-add-ons.ts';
import type { ClusterPorts } from '../cluster/cluster.steps.ts';
import type { ClustersEnvironment } from '../clusters-environment.ts';
import { keepWorkers } from './keep-workers.ts';
import type { Worker } from './model/pool-plan.ts';
import { WORKER_RIGHTS } from './worker-rights.ts';

interface Options extends Pick<ClustersEnvironment, 'machines' | 'networks' | 'clock' | 'log'> {
  ports: Pick<ClusterPorts, 'running' | 'connection' | 'tenantOf' | 'boundsOf' | 'othersOf'>;
  /** As they are written down, by the uid of their cluster. */
  workersOf(cluster: string): readonly Worker[];
  /** Machines that nobody has are gone. */
  withoutOrphans(): Promise<void>;
}

const RETRY_MS = 2000;
const LOOK_LATER_MS = 30_000;

/** The workers of a cluster that answers. */
export async function keepClusterWorkers(cluster: TenantCluster, options: Options): Promise<Outcome> {
  const { machines, networks, clock, log, ports } = options;
  const wanted = (cluster.spec.nodePools ?? []).reduce((sum, { replicas }) => sum + replicas, 0);
  if (wanted === 0 && (cluster.status?.workers ?? []).length === 0) return done('NotAsked', 'its pools ask for no workers');
  if (cluster.status?.network === undefined) return waiting(ClusterReason.NetworkNotReady, 'it has no network, which workers need');
  await options.withoutOrphans();
  const connection = await ports.connection(cluster);
  const { problems } = await installAddOns([WORKER_RIGHTS], connection);
  if (problems.length > 0)
    return waiting(ClusterReason.AddOnRefused, `workers cannot be given their rights: ${problems[0].message}`, RETRY_MS);
  const { uid } = cluster.metadata;
  const inside = connection.workers({ cluster: uid!, workers: () => options.workersOf(uid!), clock, log });
  await inside.whenSynced();
  // Who cannot see all of it would take workers for gone that are there.
  if (inside.surplus !== undefined) return waiting(ClusterReason.TooManyObjects, inside.surplus, LOOK_LATER_MS);
  const tenant = ports.tenantOf(cluster);
  return keepWorkers(cluster, {
    machines,
    inside,
    running: ports.running(cluster)!,
    minimumIsolation: (tenant && ports.boundsOf(tenant)?.minimumKernelIsolation?.value) ?? 'Sandbox',
    others: ports.othersOf(cluster),
    placeOf: (worker) => networks.placeOf(cluster, worker),
    now: () => clock.now(),
    suffix: (length) => randomSuffix(length),
  });
}
