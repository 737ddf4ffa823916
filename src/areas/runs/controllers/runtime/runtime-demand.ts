import { DEFAULT_RUNS_CAPACITY, RUNS_RESOURCE } from '../../../../api/kruntimes.io/v1alpha1/names.ts';
import type { Run } from '../../../../api/kruntimes.io/v1alpha1/run.ts';
import { holdsCapacity, phaseOf } from '../../../../api/kruntimes.io/v1alpha1/run-state.ts';
import type { Runtime } from '../../../../api/kruntimes.io/v1alpha1/runtime.ts';
import { parseTime } from '../../../../kube/time.ts';
import type { Clock } from '../../../../lib/clock.ts';
import type { Informer } from '../../../../runtime/informer/informer.ts';
import { keyOf, toKey } from '../../../../runtime/informer/object-cache.ts';
import { desiredReplicas, isSizedByWait } from './model/desired-replicas.ts';

/** The Runs of each Runtime, by its key. Counting them costs the same however many there are. */
export interface RuntimeQueues {
  queued(runtime: string): number;
  active(runtime: string): number;
  /** Those that wait, to be looked at one by one. */
  waiting(runtime: string): readonly Run[];
}

export function queuesOf(runs: Informer<Run>): RuntimeQueues {
  const runtimeOf = (run: Run) => [toKey(run.metadata.namespace, run.spec.runtime)];
  runs.addIndex('waitingFor', (run) => (phaseOf(run) === 'Pending' ? runtimeOf(run) : []));
  runs.addIndex('activeOn', (run) => (holdsCapacity(run) ? runtimeOf(run) : []));
  return {
    queued: (runtime) => runs.countByIndex('waitingFor', runtime),
    active: (runtime) => runs.countByIndex('activeOn', runtime),
    waiting: (runtime) => runs.byIndex('waitingFor', runtime),
  };
}

/** Counts the Runs of each Runtime, to size it. */
export class RuntimeDemand {
  readonly #clock: Clock;
  readonly #queues: RuntimeQueues;
  /** Since when fewer Pods would do, by Runtime uid. */
  readonly #quietSince = new Map<string, number>();

  constructor(clock: Clock, queues: RuntimeQueues) {
    this.#clock = clock;
    this.#queues = queues;
  }

  replicas(runtime: Runtime, current: number, ready: number): { replicas: number; queued: number; active: number; quietMs?: number } {
    const now = this.#clock.now();
    const key = keyOf(runtime);
    const [queued, active] = [this.#queues.queued(key), this.#queues.active(key)];
    const places = Number(runtime.spec.capacity?.resources?.[RUNS_RESOURCE] ?? DEFAULT_RUNS_CAPACITY);
    const uid = runtime.metadata.uid!;
    const isQuiet = queued === 0 && Math.ceil(active / Math.max(1, places)) < current;
    if (!isQuiet) this.#quietSince.delete(uid);
    else if (!this.#quietSince.has(uid)) this.#quietSince.set(uid, now);
    const quietMs = isQuiet ? now - this.#quietSince.get(uid)! : undefined;
    const replicas = desiredReplicas(runtime, current, {
      queued,
      active,
      oldestWaitSeconds: isSizedByWait(runtime, queued) ? this.#oldestWait(key, now) / 1000 : 0,
      idleSeconds: (quietMs ?? 0) / 1000,
      starting: Math.max(0, current - ready),
      placesPerPod: places,
    });
    // One Pod went: the next waits its own while.
    if (replicas < current) this.#quietSince.set(uid, now);
    return { replicas, queued, active, quietMs };
  }

  forget(uid: string): void {
    this.#quietSince.delete(uid);
  }

  #oldestWait(runtime: string, now: number): number {
    const created = (run: Run) => parseTime(run.metadata.creationTimestamp ?? '') ?? now;
    return now - this.#queues.waiting(runtime).reduce((least, run) => Math.min(least, created(run)), now);
  }
}
