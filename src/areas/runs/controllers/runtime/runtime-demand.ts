import { DEFAULT_RUNS_CAPACITY, RUNS_RESOURCE } from '../../../../api/kruntimes.io/v1alpha1/names.ts';
import type { Run } from '../../../../api/kruntimes.io/v1alpha1/run.ts';
import type { Runtime } from '../../../../api/kruntimes.io/v1alpha1/runtime.ts';
import { parseTime } from '../../../../kube/time.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { holdsCapacity, phaseOf } from '../../../../api/kruntimes.io/v1alpha1/run-state.ts';
import { desiredReplicas } from './model/desired-replicas.ts';

/** Counts the Runs of each Runtime, to size it. */
export class RuntimeDemand {
  readonly #clock: Clock;
  readonly #runsOf: (namespace: string, runtime: string) => Run[];
  /** Since when fewer Pods would do, by Runtime uid. */
  readonly #quietSince = new Map<string, number>();

  constructor(clock: Clock, runsOf: (namespace: string, runtime: string) => Run[]) {
    this.#clock = clock;
    this.#runsOf = runsOf;
  }

  replicas(runtime: Runtime, current: number, ready: number): { replicas: number; queued: number; active: number; quietMs?: number } {
    const now = this.#clock.now();
    const runs = this.#runsOf(runtime.metadata.namespace!, runtime.metadata.name!);
    const waiting = runs.filter((run) => phaseOf(run) === 'Pending');
    const active = runs.filter(holdsCapacity).length;
    const places = Number(runtime.spec.capacity?.resources?.[RUNS_RESOURCE] ?? DEFAULT_RUNS_CAPACITY);
    const uid = runtime.metadata.uid!;
    const isQuiet = waiting.length === 0 && Math.ceil(active / Math.max(1, places)) < current;
    if (!isQuiet) this.#quietSince.delete(uid);
    else if (!this.#quietSince.has(uid)) this.#quietSince.set(uid, now);
    const quietMs = isQuiet ? now - this.#quietSince.get(uid)! : undefined;
    const oldest = waiting.reduce((least, run) => Math.min(least, parseTime(run.metadata.creationTimestamp ?? '') ?? now), now);
    const replicas = desiredReplicas(runtime, current, {
      queued: waiting.length,
      active,
      oldestWaitSeconds: (now - oldest) / 1000,
      idleSeconds: (quietMs ?? 0) / 1000,
      starting: Math.max(0, current - ready),
      placesPerPod: places,
    });
    // One Pod went: the next waits its own while.
    if (replicas < current) this.#quietSince.set(uid, now);
    return { replicas, queued: waiting.length, active, quietMs };
  }

  forget(uid: string): void {
    this.#quietSince.delete(uid);
  }
}
