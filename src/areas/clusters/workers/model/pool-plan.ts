import { createHash } from 'node:crypto';
import { WorkerPhase } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';

export type NodePool = NonNullable<TenantCluster['spec']['nodePools']>[number];
export type Worker = NonNullable<NonNullable<TenantCluster['status']>['workers']>[number];

/** What a pool asks for that does not say. */
export const POOL_DEFAULTS = { cpu: '1', memory: '512Mi', disk: '4Gi' } as const;

const NAME_MAX = 63;
const SUFFIX_LENGTH = 5;

/** What is to change about the workers of a cluster. */
export interface PoolPlan {
  /** One entry for each worker that is missing. */
  missing: NodePool[];
  /** Names of those that have to go. */
  leaving: string[];
}

/** What a worker is made of: one whose pool asks for something else is replaced. */
export function sizeOf({ cpu, memory, disk, machine, kernelIsolation }: NodePool): string {
  const parts = [
    cpu ?? POOL_DEFAULTS.cpu,
    memory ?? POOL_DEFAULTS.memory,
    disk ?? POOL_DEFAULTS.disk,
    machine ?? '',
    kernelIsolation ?? '',
  ];
  return createHash('sha256').update(parts.join(' ')).digest('hex').slice(0, 8);
}

/**
 * Which workers come and which go. Those of another version or size go one at a time, and not before the one that came last is ready: what a cluster
 * may have is no more while it changes.
 */
export function poolPlan({ spec, status }: TenantCluster): PoolPlan {
  const pools = spec.nodePools ?? [];
  const workers = status?.workers ?? [];
  const version = status?.version;
  const staying = workers.filter(({ phase }) => phase !== WorkerPhase.Leaving);
  const missing: NodePool[] = [];
  const leaving: string[] = [];
  for (const pool of pools) {
    const own = staying.filter((worker) => worker.pool === pool.name);
    for (let count = own.length; count < pool.replicas; count++) missing.push(pool);
    leaving.push(
      ...own
        .toSorted(byWorth)
        .slice(pool.replicas)
        .map(({ name }) => name),
    );
  }
  leaving.push(...staying.filter(({ pool }) => !pools.some(({ name }) => name === pool)).map(({ name }) => name));
  const isSettled = missing.length === 0 && leaving.length === 0 && workers.every(({ phase }) => phase === WorkerPhase.Ready);
  const outdated = staying.find((worker) => isOutdated(worker, pools, version));
  if (isSettled && outdated) leaving.push(outdated.name);
  return { missing, leaving };
}

function isOutdated(worker: Worker, pools: readonly NodePool[], version: string | undefined): boolean {
  const pool = pools.find(({ name }) => name === worker.pool);
  return pool !== undefined && (worker.size !== sizeOf(pool) || (worker.version !== undefined && worker.version !== version));
}

/** Those that work before those that do not, the older ones first. */
function byWorth(a: Worker, b: Worker): number {
  const worth = ({ phase }: Worker) => (phase === WorkerPhase.Ready ? 0 : 1);
  return worth(a) - worth(b);
}

/** `<cluster>-<pool>-<5 letters>`, as long as a label may be. */
export function workerName(cluster: string, pool: string, suffix: (length: number) => string): string {
  const room = NAME_MAX - SUFFIX_LENGTH - 1;
  const whole = `${cluster}-${pool}`;
  if (whole.length <= room) return `${whole}-${suffix(SUFFIX_LENGTH)}`;
  const digest = createHash('sha256').update(whole).digest('hex').slice(0, 6);
  return `${whole.slice(0, room - digest.length - 1)}-${digest}-${suffix(SUFFIX_LENGTH)}`;
}

/** Short, because links and folders are named after it, and nobody's else. */
export function machineId(cluster: string, worker: string): string {
  return `w${createHash('sha256').update(`${cluster}/${worker}`).digest('hex').slice(0, 15)}`;
}
