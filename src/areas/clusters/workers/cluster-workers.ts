import { WorkerPhase } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { formatTime } from '../../../kube/time.ts';
import type { Clock } from '../../../lib/clock.ts';
import { machineId } from './model/pool-plan.ts';
import type { WorkerMachines } from './worker-machines.ts';

/** Ends the machines of a cluster and keeps all that they have. */
export async function sleepWorkers(cluster: TenantCluster, machines: WorkerMachines, clock: Pick<Clock, 'now'>): Promise<void> {
  const workers = cluster.status?.workers ?? [];
  // One that was waking up has a machine.
  if (workers.every(({ phase, waking }) => phase === WorkerPhase.Asleep && waking === undefined)) return;
  const since = formatTime(new Date(clock.now()));
  const asleep = await Promise.all(
    workers.map(async (worker) => {
      await (await machines.named(worker.provider))?.stop(machineId(cluster.metadata.uid!, worker.name));
      // Those that go, go on when it wakes.
      if (worker.phase === WorkerPhase.Leaving || worker.phase === WorkerPhase.Pending) return worker;
      const { waking: _, ...rest } = worker;
      return { ...rest, phase: WorkerPhase.Asleep, since };
    }),
  );
  cluster.status = { ...cluster.status, workers: asleep };
}

/** Leaves nothing of the machines of a cluster, also of those that nobody has written down. */
export async function removeWorkers(cluster: TenantCluster, machines: WorkerMachines): Promise<void> {
  const { uid } = cluster.metadata;
  const workers = cluster.status?.workers ?? [];
  if (workers.length === 0 && (cluster.spec.nodePools ?? []).length === 0) return;
  for (const each of await machines.all()) {
    const left = (await each.list()).filter((machine) => machine.cluster === uid).map(({ id }) => id);
    const known = workers.filter(({ provider }) => provider === each.provider).map(({ name }) => machineId(uid!, name));
    await Promise.all([...new Set([...left, ...known])].map((id) => each.remove(id)));
  }
}

/** Removes machines that no cluster has: those of one whose object was taken away by force. */
export async function removeOrphans(clusters: Iterable<TenantCluster>, machines: Pick<WorkerMachines, 'all'>): Promise<void> {
  const wanted = new Set<string>();
  for (const { metadata, status } of clusters) for (const { name } of status?.workers ?? []) wanted.add(machineId(metadata.uid!, name));
  for (const each of await machines.all()) {
    const orphans = (await each.list()).filter(({ id }) => !wanted.has(id));
    await Promise.all(orphans.map(({ id }) => each.remove(id)));
  }
}
