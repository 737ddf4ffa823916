import { Job, Pod } from '../../../client/kinds.ts';
import { labelSelectorMatcher } from '../../../kube/label-selector.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { hasFinalizer } from '../../../kube/ownership.ts';
import { isStatusError } from '../../../kube/status.ts';
import { formatTime } from '../../../kube/time.ts';
import type { ReconcileContext, ReconcileResult } from '../../../runtime/controller.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { Environment } from '../environment.ts';
import { claim } from '../workload/claim.ts';
import type { Expectations } from '../workload/expectations.ts';
import { controlledOrOrphaned } from '../workload/informers.ts';
import { isReady } from '../workload/model/pod-state.ts';
import { conditionOf, type WorkloadCondition } from '../workload/model/workload-conditions.ts';
import { PodControl } from '../workload/pod-control.ts';
import { allAtOnce, slowStart } from '../workload/slow-start.ts';
import { writeStatus } from '../workload/write-status.ts';
import { recordAfter, type FailureRecord } from './model/back-off.ts';
import { completed, deadlineLeft, finishOf, isComplete, newCondition } from './model/finish.ts';
import { jobPod } from './model/job-pod.ts';
import { TRACKING_FINALIZER, viewJob, type JobView } from './model/job-view.ts';
import { planPods } from './model/plan.ts';
import { track } from './track.ts';

/** What is remembered of a Job between passes. A restart forgets the back-off, as upstream's does. */
interface Memory {
  record: FailureRecord;
  /** uids of Pods that were freed, until the cache shows it. */
  freed: Set<string>;
  /** The version of our last status write: an older Job in the cache is not worth a look. */
  written: number;
}

/** How many Pods there are after this pass has created and deleted some. */
interface Effects {
  active: number;
  ready: number;
  terminating: number;
  waitMs?: number;
  failure?: unknown;
}

export class JobReconciler {
  #environment: Environment;
  #jobs: Informer;
  #pods: Informer;
  #expectations: Expectations;
  #control: PodControl;
  #memories = new Map<string, Memory>();

  constructor(environment: Environment, jobs: Informer, pods: Informer, expectations: Expectations) {
    this.#environment = environment;
    this.#jobs = jobs;
    this.#pods = pods;
    this.#expectations = expectations;
    this.#control = new PodControl(environment);
  }

  async reconcile(key: string, { signal }: ReconcileContext): Promise<ReconcileResult | void> {
    const job = this.#jobs.get(key);
    if (!job || isFinished(job)) {
      this.#expectations.forget(key);
      this.#memories.delete(key);
      return undefined;
    }
    if (job.spec.managedBy !== undefined && job.spec.managedBy !== 'kubernetes.io/job-controller') return undefined;
    const memory = this.#memoryOf(key);
    if (Number(job.metadata.resourceVersion) < memory.written) return undefined;
    const settled = this.#expectations.pending(key) === 0;
    const pods = await this.#claim(job);
    const view = viewJob(job, pods, this.#stillFreed(memory, pods));
    return this.#pass(key, view, memory, settled, signal);
  }

  async #pass(key: string, view: JobView, memory: Memory, settled: boolean, signal: AbortSignal): Promise<ReconcileResult | void> {
    const { job } = view;
    const now = this.#environment.clock.now();
    const startTime: string | undefined = job.status?.startTime ?? (job.spec.suspend ? undefined : formatTime(new Date(now)));
    const record = recordAfter(memory.record, view.newlySucceeded, view.newlyFailed);
    let finish = finishOf(view, startTime, now);
    let effects: Effects = { active: view.active.length, ready: view.ready, terminating: view.terminating };
    const draft: Json = { ...job.status, startTime };
    if (finish) {
      effects = await this.#delete(key, view, view.active, signal);
      if (effects.active > 0 || !settled) finish = undefined;
    } else if (settled && job.metadata.deletionTimestamp === undefined) {
      effects = await this.#manage(key, view, record, now, signal);
      if (isComplete(job, view.succeeded, effects.active)) finish = completed(now);
      else this.#suspension(job, draft, now);
    } else if (isComplete(job, view.succeeded, effects.active)) finish = completed(now);
    Object.assign(draft, { active: effects.active || undefined, ready: effects.ready, terminating: effects.terminating });
    await track(view, draft, finish, this.#trackPorts(memory), now);
    memory.record = record;
    if (effects.failure !== undefined) throw effects.failure;
    // Timers: the deadline and the end of a back-off change nothing that a watch could see.
    const waits = [effects.waitMs, deadlineLeft(job, startTime, now)].filter((ms) => ms !== undefined);
    return waits.length > 0 ? { afterMs: Math.max(0, Math.min(...waits)) } : undefined;
  }

  async #manage(key: string, view: JobView, record: FailureRecord, now: number, signal: AbortSignal): Promise<Effects> {
    const plan = planPods(view, record, now);
    const effects: Effects = { active: view.active.length, ready: view.ready, terminating: view.terminating };
    if (plan.type === 'wait') return { ...effects, waitMs: plan.ms };
    if (plan.type === 'delete') return this.#delete(key, view, plan.pods, signal, true);
    if (plan.type === 'none') return effects;
    effects.failure = await slowStart(plan.indexes.length, async (i) => {
      const created = await this.#control.create(view.job, jobPod(view.job, plan.indexes[i], view.indexed), signal);
      if (!created) return;
      this.#expectations.created(key, created);
      effects.active++;
    });
    return effects;
  }

  /** @param uncounted these are not failures (too many, or suspended), so they are freed before */
  async #delete(key: string, view: JobView, pods: readonly KubeObject[], signal: AbortSignal, uncounted = false): Promise<Effects> {
    const effects: Effects = { active: view.active.length, ready: view.ready, terminating: view.terminating };
    effects.failure = await allAtOnce(pods.length, async (i) => {
      const pod = pods[i];
      if (uncounted) await this.#release(pod);
      await this.#control.delete(view.job, pod, signal);
      this.#expectations.deleted(key, pod);
      effects.active--;
      effects.terminating++;
      if (isReady(pod)) effects.ready--;
    });
    return effects;
  }

  /** Writes the condition Suspended into the draft, and the new start of a resumed Job. */
  #suspension(job: KubeObject, draft: Json, now: number): void {
    const current = conditionOf(job.status, 'Suspended');
    const suspended = job.spec.suspend === true;
    if (suspended ? current?.status === 'True' : current?.status !== 'True') return;
    const next = suspended
      ? newCondition('Suspended', 'JobSuspended', 'Job suspended', now)
      : newCondition('Suspended', 'JobResumed', 'Job resumed', now, 'False');
    const others = (job.status?.conditions ?? []).filter(({ type }: WorkloadCondition) => type !== 'Suspended');
    draft.conditions = [...others, next];
    if (!suspended) draft.startTime = formatTime(new Date(now));
    const [reason, message] = suspended ? ['Suspended', 'Job suspended'] : ['Resumed', 'Job resumed'];
    this.#environment.events.record(job, { type: 'Normal', reason, message });
  }

  #trackPorts(memory: Memory) {
    const { client, events } = this.#environment;
    return {
      writeStatus: async (job: KubeObject, status: Json) => {
        const written = await writeStatus(client, Job, job, status);
        memory.written = Math.max(memory.written, Number(written.metadata.resourceVersion));
        return written;
      },
      release: async (pod: KubeObject) => {
        await this.#release(pod);
        memory.freed.add(pod.metadata.uid!);
      },
      finished: (job: KubeObject, { type, reason, message }: WorkloadCondition) => {
        if (type === 'Complete') events.record(job, { type: 'Normal', reason: 'Completed', message: 'Job completed' });
        else events.record(job, { type: 'Warning', reason: reason!, message: message! });
      },
    };
  }

  async #release(pod: KubeObject): Promise<void> {
    await releasePod(this.#environment, pod);
  }

  #claim(job: KubeObject): Promise<KubeObject[]> {
    const { client } = this.#environment;
    const { namespace, name } = job.metadata;
    const matcher = labelSelectorMatcher(job.spec.selector);
    return claim(job, controlledOrOrphaned(this.#pods, job), {
      objects: client.resource<KubeObject>(Pod, namespace),
      readOwner: () => client.resource<KubeObject>(Job, namespace).get(name!),
      matches: ({ metadata }) => matcher.matches(metadata.labels),
      finalizer: TRACKING_FINALIZER,
    });
  }

  #memoryOf(key: string): Memory {
    let memory = this.#memories.get(key);
    if (!memory) this.#memories.set(key, (memory = { record: { failures: 0 }, freed: new Set(), written: 0 }));
    return memory;
  }

  #stillFreed(memory: Memory, pods: readonly KubeObject[]): ReadonlySet<string> {
    const shown = new Set(pods.filter((pod) => hasFinalizer(pod, TRACKING_FINALIZER)).map(({ metadata }) => metadata.uid!));
    for (const uid of memory.freed) if (!shown.has(uid)) memory.freed.delete(uid);
    return memory.freed;
  }
}

/** Takes the tracking finalizer off, and leaves those of others alone. A Pod that is gone has none. */
export async function releasePod({ client }: Pick<Environment, 'client'>, pod: KubeObject): Promise<void> {
  if (!hasFinalizer(pod, TRACKING_FINALIZER)) return;
  const { namespace, name, uid } = pod.metadata;
  const patch = { metadata: { uid, '$deleteFromPrimitiveList/finalizers': [TRACKING_FINALIZER] } };
  try {
    await client.resource<KubeObject>(Pod, namespace).patch(name!, { type: 'strategic', patch });
  } catch (error) {
    // Another Pod of the same name is a Conflict of uids.
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
  }
}

export function isFinished(job: KubeObject): boolean {
  return (job.status?.conditions ?? []).some(
    ({ type, status }: WorkloadCondition) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
}
