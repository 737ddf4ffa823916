import type { Runtime } from '../../../../../api/kruntimes.io/v1alpha1/runtime.ts';

export interface Demand {
  /** Runs without a place. */
  queued: number;
  /** Runs that have one. */
  active: number;
  /** How long the oldest of the queued waits. */
  oldestWaitSeconds: number;
  /** How long there was nothing to do with fewer replicas. */
  idleSeconds: number;
  /** Pods that were asked for and do not take Runs yet: more of them would not come sooner. */
  starting: number;
  /** Runs that one Pod takes. */
  placesPerPod: number;
}

const TARGET_QUEUED_RUNS = 4;

/** Whether it matters how long the Runs of a queue have waited: in a long one their number says enough. */
export function isSizedByWait({ spec: { autoscaling } }: Runtime, queued: number): boolean {
  return autoscaling !== undefined && queued > 0 && queued < (autoscaling.targetQueuedRuns ?? TARGET_QUEUED_RUNS);
}

/** How many Pods a Runtime should have: up at once with the queue, down one by one after a quiet while. */
export function desiredReplicas(runtime: Runtime, current: number, demand: Demand): number {
  const { autoscaling, replicas = 1 } = runtime.spec;
  if (autoscaling === undefined) return replicas;
  const {
    minReplicas = 1,
    maxReplicas,
    targetQueuedRuns = TARGET_QUEUED_RUNS,
    targetWaitSeconds = 5,
    scaleDownDelaySeconds = 300,
  } = autoscaling;
  const within = (count: number) => Math.min(maxReplicas, Math.max(minReplicas, count));
  if (demand.queued > 0 && demand.starting > 0) return within(current);
  if (demand.queued > 0) {
    const byQueue = current + Math.floor(demand.queued / targetQueuedRuns);
    const byWait = demand.oldestWaitSeconds >= targetWaitSeconds || current === 0 ? current + 1 : current;
    return within(Math.max(byQueue, byWait));
  }
  const needed = Math.ceil(demand.active / Math.max(1, demand.placesPerPod));
  if (needed < current && demand.idleSeconds >= scaleDownDelaySeconds) return within(current - 1);
  return within(current);
}
