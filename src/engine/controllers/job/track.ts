import type { Json, KubeObject } from '../../../kube/object.ts';
import type { WorkloadCondition } from '../workload/model/workload-conditions.ts';
import { allAtOnce } from '../workload/slow-start.ts';
import { countPods, settleUncounted, uncountedField } from './model/counting.ts';
import { terminalCondition } from './model/finish.ts';
import type { JobView } from './model/job-view.ts';

export interface TrackPorts {
  writeStatus(job: KubeObject, status: Json): Promise<KubeObject>;
  /** Removes the finalizer. */
  release(pod: KubeObject): Promise<void>;
  finished(job: KubeObject, condition: WorkloadCondition): void;
}

/**
 * Counts what ended: first the uids are written down, then the finalizers go, then the counters move. Whenever this stops half-way, the next
 * pass finds the uids and goes on; no Pod is counted twice or forgotten.
 */
export async function track(
  view: JobView,
  draft: Json,
  finish: WorkloadCondition | undefined,
  ports: TrackPorts,
  now: number,
): Promise<void> {
  const { indexed } = view;
  const settled = settleUncounted(draft, view.tracked);
  const counted = countPods(view, finish);
  const status: Json = {
    ...settled,
    uncountedTerminatedPods: uncountedField(counted.uncounted.succeeded, counted.uncounted.failed),
    conditions: withFinish(settled.conditions, finish),
  };
  if (indexed) {
    status.succeeded = counted.completedIndexes!.size || undefined;
    status.completedIndexes = counted.completedIndexes!.toString() || undefined;
    if (indexed.failed) status.failedIndexes = indexed.failed.toString();
  }
  let job = await ports.writeStatus(view.job, status);
  const tracked = new Set(view.tracked);
  const failure = await allAtOnce(counted.release.length, async (i) => {
    await ports.release(counted.release[i]);
    tracked.delete(counted.release[i].metadata.uid!);
  });
  const next = settleUncounted(job.status ?? {}, tracked);
  if (indexed) next.succeeded = job.status?.succeeded;
  const { succeeded = [], failed = [] } = next.uncountedTerminatedPods;
  const done = finish !== undefined && !counted.full && succeeded.length + failed.length === 0 && (next.terminating ?? 0) === 0;
  const terminal = done ? terminalCondition(finish, now) : undefined;
  if (terminal) {
    next.conditions = [...(next.conditions ?? []).filter(({ type }: Json) => type !== terminal.type), terminal];
    if (terminal.type === 'Complete') next.completionTime = terminal.lastTransitionTime;
  }
  job = await ports.writeStatus(job, next);
  if (terminal) ports.finished(job, terminal);
  if (failure !== undefined) throw failure;
}

function withFinish(conditions: WorkloadCondition[] | undefined, finish: WorkloadCondition | undefined): WorkloadCondition[] | undefined {
  if (!finish || conditions?.some(({ type }) => type === finish.type)) return conditions;
  return [...(conditions ?? []), finish];
}
