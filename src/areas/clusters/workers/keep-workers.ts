import { ClusterReason, WorkerPhase, type KernelIsolation } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { TenantCluster } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { formatTime } from '../../../kube/time.ts';
import { done, stalled, waiting, type Outcome } from '../../../runtime/steps/outcome.ts';
import { MachineError } from '../machines/machines.ts';
import type { RunningControlPlane } from '../control-plane/control-planes.ts';
import { strengthOf } from '../policy/model/bounds.ts';
import { freeWorkerAddress } from '../vpc/model/cluster-place.ts';
import type { WorkerPlace } from '../vpc/tenant-networks.ts';
import { TOKEN_LIFE_MS } from './model/bootstrap-token.ts';
import { machineId, poolPlan, sizeOf, workerName, type NodePool, type Worker } from './model/pool-plan.ts';
import { freePodRange, wantedMachine } from './model/wanted-machine.ts';
import type { TenantWorkers } from './tenant-workers.ts';
import type { WorkerMachines } from './worker-machines.ts';

export interface KeepWorkersPorts {
  machines: Pick<WorkerMachines, 'choose' | 'named'>;
  inside: Pick<TenantWorkers, 'node' | 'token' | 'removeToken' | 'drain' | 'removeNode'>;
  running: RunningControlPlane;
  /** The least that policies allow. */
  minimumIsolation: KernelIsolation;
  /** The tenant's further clusters. */
  others: readonly TenantCluster[];
  /** Where the port of a worker is; undefined until it is made. */
  placeOf(worker: string): Promise<WorkerPlace | undefined>;
  now(): number;
  suffix(length: number): string;
}

/** How long Pods may take to go, whatever their budgets say. */
const DRAIN_MS = 5 * 60_000;
/** A worker whose machine runs and whose node says nothing for so long is replaced. */
const SILENT_MS = 5 * 60_000;
/** As long as one that joins has. */
const WAKE_MS = TOKEN_LIFE_MS;
const LOOK_AGAIN_MS = 2000;
const LOOK_LATER_MS = 30_000;

type Advance = { worker?: Worker; error?: MachineError };

/**
 * One round of making the workers of a cluster what its pools ask for. What is decided is in the status, and written, before anything is made of it: the
 * round that follows makes it.
 */
export async function keepWorkers(cluster: TenantCluster, ports: KeepWorkersPorts): Promise<Outcome> {
  const before = cluster.status?.workers ?? [];
  const plan = poolPlan(cluster);
  if (before.length === 0 && plan.missing.length === 0) return done('NotAsked', 'its pools ask for no workers');
  const marked = before.map((worker) => (plan.leaving.includes(worker.name) ? inPhase(worker, WorkerPhase.Leaving, ports) : worker));
  const advanced = await Promise.all(
    marked.map((worker): Promise<Advance> => {
      // Whoever was told to go just now is told again when that is written.
      if (plan.leaving.includes(worker.name)) return Promise.resolve({ worker });
      return worker.phase === WorkerPhase.Leaving ? leave(cluster, worker, ports) : advance(cluster, worker, ports);
    }),
  );
  const kept = advanced.flatMap(({ worker }) => worker ?? []);
  const { made, problem } = await allocate({ ...cluster, status: { ...cluster.status, workers: kept } }, plan.missing, ports);
  const workers = [...kept, ...made];
  cluster.status = { ...cluster.status, workers };
  const error = advanced.find((each) => each.error)?.error;
  return outcomeOf(workers, problem, error);
}

function outcomeOf(workers: readonly Worker[], problem: string | undefined, error: MachineError | undefined): Outcome {
  const ready = workers.filter(({ phase }) => phase === WorkerPhase.Ready);
  const leaving = workers.filter(({ phase }) => phase === WorkerPhase.Leaving);
  if (problem !== undefined) return stalled(ClusterReason.NoMachines, problem);
  if (error) return waiting(ClusterReason.MachineFailed, error.message, error.afterMs ?? LOOK_LATER_MS);
  if (leaving.length > 0) return waiting(ClusterReason.WorkersLeaving, wordsOf(leaving, 'leaves'), LOOK_AGAIN_MS);
  if (ready.length < workers.length) {
    const others = workers.filter(({ phase }) => phase !== WorkerPhase.Ready);
    return waiting(
      ClusterReason.WorkersJoining,
      `${ready.length} of ${workers.length} workers are ready; ${wordsOf(others, 'joins')}`,
      LOOK_LATER_MS,
    );
  }
  const kinds = [...new Set(workers.map(({ provider, isolation }) => `${isolation} (${provider})`))].sort();
  return done('Ready', workers.length === 0 ? 'it has none' : `${workers.length}, kernel isolation ${kinds.join(', ')}`);
}

function wordsOf(workers: readonly Worker[], what: string): string {
  const [first, ...rest] = workers;
  const message = first.message === undefined ? '' : `: ${first.message}`;
  return `${first.name} ${what}${message}${rest.length === 0 ? '' : `, and ${rest.length} more`}`;
}

/** Names, addresses and machines for those that are missing. */
async function allocate(
  cluster: TenantCluster,
  missing: readonly NodePool[],
  ports: KeepWorkersPorts,
): Promise<{ made: Worker[]; problem?: string }> {
  const made: Worker[] = [];
  for (const pool of missing) {
    // Policies may ask for more today than when the pool was let in.
    const isolation = stronger(pool.kernelIsolation ?? ports.minimumIsolation, ports.minimumIsolation);
    const choice = await ports.machines.choose({ machine: pool.machine, isolation });
    if ('problem' in choice) return { made, problem: `node pool "${pool.name}" gets no workers: ${choice.problem}` };
    const workers = [...(cluster.status?.workers ?? []), ...made];
    const soFar: TenantCluster = { ...cluster, status: { ...cluster.status, workers } };
    const range = cluster.status!.network!.podCidr;
    const podCidr =
      range &&
      freePodRange(
        range,
        workers.flatMap(({ podCidrs }) => podCidrs ?? []),
      );
    if (range && podCidr === undefined)
      return { made, problem: `node pool "${pool.name}" gets no more workers: the range of Pods ${range} is used up` };
    made.push({
      name: workerName(cluster.metadata.name!, pool.name, ports.suffix),
      pool: pool.name,
      ...freeWorkerAddress(soFar, [...ports.others, soFar]),
      provider: choice.machines.provider,
      isolation: choice.machines.isolation,
      phase: WorkerPhase.Pending,
      since: formatTime(new Date(ports.now())),
      version: cluster.status!.version,
      size: sizeOf(pool),
      ...(ports.running.authorities && { authorities: ports.running.authorities.edition }),
      ...(podCidr && { podCidrs: [podCidr] }),
    });
  }
  return { made };
}

function stronger(a: KernelIsolation, b: KernelIsolation): KernelIsolation {
  return strengthOf(a) > strengthOf(b) ? a : b;
}

/** One step nearer to being ready. */
async function advance(cluster: TenantCluster, worker: Worker, ports: KeepWorkersPorts): Promise<Advance> {
  const id = machineId(cluster.metadata.uid!, worker.name);
  const machines = await ports.machines.named(worker.provider);
  const pool = cluster.spec.nodePools?.find(({ name }) => name === worker.pool);
  if (machines === undefined || pool === undefined)
    return { worker: { ...worker, message: `there are no machines ${worker.provider} here any more` } };
  try {
    if (worker.attachment === undefined) return { worker: { ...worker, attachment: await machines.place(id, cluster.metadata.uid!) } };
    const place = await ports.placeOf(worker.name);
    if (place === undefined) return { worker: { ...worker, message: 'its port of the network is made' } };
    const node = ports.inside.node(worker.name);
    if (hasToJoinAgain(worker, node?.isReady === true, ports)) {
      await machines.stop(id);
      await ports.inside.removeToken(worker.name);
      return { worker: joiningAgain(worker, ports) };
    }
    const token =
      (node === undefined || worker.rejoins === true) && isJoining(worker)
        ? await ports.inside.token(worker, worker.phase === WorkerPhase.Pending)
        : '';
    if (token === undefined) {
      // It had its time: another one is tried.
      await machines.remove(id);
      await ports.inside.removeToken(worker.name);
      return {};
    }
    await machines.run(wantedMachine(cluster, worker, { pool, place, running: ports.running, token }));
    if (node?.isReady && isNews(worker, node.heard)) {
      if (worker.phase !== WorkerPhase.Ready) await ports.inside.removeToken(worker.name);
      return { worker: withTrust(inPhase(worker, WorkerPhase.Ready, ports), node.heard, ports) };
    }
    return { worker: notReady(worker, ports) };
  } catch (error) {
    if (!(error instanceof MachineError)) throw error;
    if (wokeInVain(worker, ports)) return { worker: notReady(worker, ports) };
    return { worker: { ...(isAsleep(worker) ? wakingUp(worker, ports) : worker), message: error.message }, error };
  }
}

/** It joined with authorities that are not trusted any more. It may have got certificates of later ones since. */
function isCutOff({ authorities = 1 }: Worker, { running }: Pick<KeepWorkersPorts, 'running'>): boolean {
  return running.authorities !== undefined && authorities < running.authorities.oldestTrusted;
}

/** With a token, and the authorities of now, as who it was. */
function hasToJoinAgain(worker: Worker, isReady: boolean, ports: Pick<KeepWorkersPorts, 'running'>): boolean {
  if (!isCutOff(worker, ports) || isJoining(worker)) return false;
  return !isReady || ports.running.authorities!.isCleanCut;
}

/** One that spoke after they were revoked has others. */
function withTrust(worker: Worker, heard: number, ports: Pick<KeepWorkersPorts, 'running'>): Worker {
  const { rejoins: _, ...rest } = worker;
  const hasOthers = isCutOff(worker, ports) && heard > (ports.running.authorities?.forgotten ?? 0);
  return hasOthers ? { ...rest, authorities: ports.running.authorities!.edition } : rest;
}

function joiningAgain(worker: Worker, ports: Pick<KeepWorkersPorts, 'running' | 'now'>): Worker {
  const message = 'its certificates are revoked; it joins again';
  return { ...inPhase(worker, WorkerPhase.Pending, ports, message), authorities: ports.running.authorities!.edition, rejoins: true };
}

function isAsleep({ phase }: Worker): boolean {
  return phase === WorkerPhase.Asleep;
}

/** Written down, so that a restart of ours does not begin it anew. */
function wakingUp(worker: Worker, { now }: Pick<KeepWorkersPorts, 'now'>): Worker {
  const { since, waking } = worker;
  return { ...worker, since: since && notAhead(since, now()), waking: notAhead(waking, now()), message: 'it wakes up' };
}

function wokeInVain(worker: Worker, { now }: Pick<KeepWorkersPorts, 'now'>): boolean {
  return isAsleep(worker) && worker.waking !== undefined && now() - Date.parse(worker.waking) > WAKE_MS;
}

function isJoining({ phase }: Worker): boolean {
  return phase === WorkerPhase.Pending || phase === WorkerPhase.Joining;
}

/** What the Node of one that slept, or was cut off, says is of before. */
function isNews({ phase, since, rejoins }: Worker, heard: number): boolean {
  return (phase !== WorkerPhase.Asleep && rejoins !== true) || heard > Date.parse(since ?? '');
}

function notReady(worker: Worker, ports: KeepWorkersPorts): Worker {
  if (isJoining(worker)) return inPhase(worker, WorkerPhase.Joining, ports);
  if (wokeInVain(worker, ports)) return inPhase(worker, WorkerPhase.Leaving, ports, 'it did not wake up in time');
  if (isAsleep(worker)) return wakingUp(worker, ports);
  const isSilent = worker.phase === WorkerPhase.Failed && ports.now() - Date.parse(worker.since ?? '') > SILENT_MS;
  if (isSilent) return inPhase(worker, WorkerPhase.Leaving, ports, 'its node said nothing for too long');
  return inPhase(worker, WorkerPhase.Failed, ports, 'its node does not say that it is ready');
}

/** Its Pods go first, then its machine, its Node and its address. */
async function leave(cluster: TenantCluster, worker: Worker, ports: KeepWorkersPorts): Promise<Advance> {
  const { inside } = ports;
  const isLate = ports.now() - Date.parse(worker.since ?? '') > DRAIN_MS;
  const left = inside.node(worker.name)?.isReady && !isLate ? await inside.drain(worker.name) : 0;
  if (left > 0) {
    const message = left === 1 ? 'one Pod has yet to go' : `${left} Pods have yet to go`;
    return { worker: inPhase(worker, WorkerPhase.Leaving, ports, message) };
  }
  const machines = await ports.machines.named(worker.provider);
  await machines?.remove(machineId(cluster.metadata.uid!, worker.name));
  await inside.removeNode(worker.name);
  return {};
}

function inPhase(worker: Worker, phase: WorkerPhase, ports: Pick<KeepWorkersPorts, 'now'>, message?: string): Worker {
  const { message: _, waking: __, ...rest } = worker;
  const since = notAhead(worker.phase === phase ? worker.since : undefined, ports.now());
  return { ...rest, phase, since, ...(message === undefined ? {} : { message }) };
}

/** A clock that was put back makes nobody wait for the time that it was before. */
function notAhead(time: string | undefined, now: number): string {
  return time !== undefined && Date.parse(time) <= now ? time : formatTime(new Date(now));
}
