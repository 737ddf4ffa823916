import { RunCondition, type FailureReason } from '../../../api/kruntimes.io/v1alpha1/reasons.ts';
import type { Run, RunStatus } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { isStatusError } from '../../../kube/status.ts';
import { parseTime } from '../../../kube/time.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import { requestsOf } from '../../../api/kruntimes.io/v1alpha1/capacity.ts';
import { backoffBefore } from '../model/retry.ts';
import { attemptOf, holdsCapacity, isTerminal, phaseOf } from '../../../api/kruntimes.io/v1alpha1/run-state.ts';
import { assigned, failed, waitingForPod } from '../model/transitions.ts';
import { FairOrder } from './fair-order.ts';
import { placeRun } from './model/placement.ts';
import { mayHelp, runtimePod } from './model/runtime-pod.ts';
import { RuntimeGroup, type WaitingRun } from './runtime-group.ts';
import type { RunSchedulerMetrics } from './run-scheduler-metrics.ts';
import type { KubeObject } from '../../../kube/object.ts';

export interface RunSchedulerPorts {
  /** Writes the status of the Run as it was read; rejects with a Conflict when it has changed since. */
  writeStatus(run: Run, status: RunStatus): Promise<void>;
  /** Whose turn a namespace's Runs take. */
  tenantOf(namespace: string): { name: string; weight: number };
  clock: Clock;
  log: Log;
  metrics: RunSchedulerMetrics;
}

/** Writes that are under way at once. More would only queue in the API server, and decide for later with what is known now. */
const WRITES_AT_ONCE = 64;
/** A Run that starts at once is not told that it waits: that would be one more write for each. */
const PATIENCE_MS = 2000;
/** After a refused write, in case that no event comes: the API server may have been away. */
const REFUSED_MS = 500;
/** What no event tells: that a Pod has fallen silent, or that one of ours was missed. */
const RETRY_MS = 30_000;
const SECOND_MS = 1000;

interface KnownRun {
  run: Run;
  group: RuntimeGroup;
  waiting?: WaitingRun;
  /** The Pod it counts on. */
  placedOn?: string;
  /** Set from the decision until the watch shows it: older states of the Run that arrive in between say nothing. */
  assumedAttempt?: number;
  timer?: Timer;
}

/**
 * Gives Runs their Pods. Everything is derived from the Runs and Pods it is told of, so a restart begins with nothing. Decisions are
 * made only when something changed: a Run came, a place was released, a Pod became ready.
 */
export class RunScheduler {
  readonly #ports: RunSchedulerPorts;
  readonly #groups = new Map<string, RuntimeGroup>();
  readonly #runs = new Map<string, KnownRun>();
  /** Tenants, in each the namespaces, in each the Runtimes that have work. */
  readonly #turns = new FairOrder<FairOrder<FairOrder<RuntimeGroup>>>();
  #writing = 0;
  #order = 0;
  #started = false;
  #pumping = false;
  readonly #retry: Timer[] = [];

  constructor(ports: RunSchedulerPorts) {
    this.#ports = ports;
  }

  /** Begins to decide: all Runs and Pods that exist have been told. */
  start(): void {
    this.#started = true;
    this.#retryLater();
    this.#pump();
  }

  stop(): void {
    this.#started = false;
    for (const timer of this.#retry.splice(0)) timer.cancel();
    for (const known of this.#runs.values()) known.timer?.cancel();
  }

  setRun(run: Run): void {
    const uid = run.metadata.uid!;
    const known = this.#runs.get(uid);
    const isOlder = known?.assumedAttempt !== undefined && phaseOf(run) === 'Pending' && attemptOf(run) <= known.assumedAttempt;
    if (isOlder && !wasGivenBack(run, known.run)) {
      // Not yet what we wrote; but if that is refused, this is what to decide on again.
      known.run = run;
      return;
    }
    const group = this.#group(run.metadata.namespace!, run.spec.runtime);
    this.#leave(uid, known, run);
    if (isTerminal(phaseOf(run))) {
      this.#runs.delete(uid);
      return this.#pump();
    }
    const next: KnownRun = { run, group };
    this.#runs.set(uid, next);
    if (phaseOf(run) === 'Pending') this.#enqueue(next);
    else if (holdsCapacity(run)) this.#hold(next, run.status!.assignedPod!, run.status!.assignedPodUID);
    this.#pump();
  }

  removeRun(run: Run): void {
    const known = this.#runs.get(run.metadata.uid!);
    this.#leave(run.metadata.uid!, known, undefined);
    this.#runs.delete(run.metadata.uid!);
    this.#pump();
  }

  setPod(object: KubeObject): void {
    const name = object.metadata.labels?.['runtime'];
    if (name === undefined) return;
    const group = this.#group(object.metadata.namespace!, name);
    const { clock } = this.#ports;
    const before = group.pod(object.metadata.name!);
    const pod = runtimePod(object, before, { now: clock.now(), monotonic: clock.monotonic() });
    group.setPod(pod);
    if (before?.uid !== pod.uid) this.#recount(group, pod.name);
    if (!mayHelp(before, pod, clock.monotonic())) return;
    this.#ports.metrics.wakeUp('runtime_pod');
    this.#wake(group);
  }

  removePod(object: KubeObject): void {
    const name = object.metadata.labels?.['runtime'];
    if (name === undefined) return;
    const group = this.#groups.get(keyOf(object.metadata.namespace!, name));
    group?.removePod(object.metadata.name!);
    if (group?.isEmpty) this.#groups.delete(keyOf(group.namespace, group.runtime));
  }

  /** Runs that wait, by namespace and Runtime. */
  *queues(): Iterable<{ namespace: string; runtime: string; waiting: number }> {
    for (const { namespace, runtime, waiting } of this.#groups.values()) if (waiting > 0) yield { namespace, runtime, waiting };
  }

  #group(namespace: string, runtime: string): RuntimeGroup {
    const key = keyOf(namespace, runtime);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const group = new RuntimeGroup(namespace, runtime);
    this.#groups.set(key, group);
    return group;
  }

  /** Runs that were told before their Pod. */
  #recount(group: RuntimeGroup, podName: string): void {
    for (const known of this.#runs.values()) {
      if (known.group !== group || known.placedOn !== podName) continue;
      this.#hold(known, podName, known.run.status?.assignedPodUID);
    }
  }

  #hold(known: KnownRun, podName: string, podUid: string | undefined): void {
    known.placedOn = podName;
    const requests = requestsOf(known.run);
    if ('amounts' in requests) known.group.place(known.run.metadata.uid!, podName, podUid, known.run.metadata.labels, requests.amounts);
  }

  /** Takes back what the Run counted as before. */
  #leave(uid: string, known: KnownRun | undefined, next: Run | undefined): void {
    if (known === undefined) return;
    known.timer?.cancel();
    if (known.waiting !== undefined) known.group.drop(known.waiting);
    const stays = next !== undefined && holdsCapacity(next) && next.status?.assignedPod === known.placedOn;
    if (known.placedOn !== undefined && known.group.release(uid, known.placedOn) && !stays) {
      this.#ports.metrics.wakeUp('capacity_released');
      this.#wake(known.group);
    }
  }

  #enqueue(known: KnownRun): void {
    const { run } = known;
    if (run.metadata.deletionTimestamp !== undefined) return;
    if (run.spec.cancelRequested) return this.#end(known, 'Cancelled', 'cancelled by user');
    const requests = requestsOf(run);
    if ('invalid' in requests) {
      const message = `resource request "${requests.invalid}" must be a whole number that is not negative`;
      this.#ports.metrics.decided(run.spec.runtime, 'selection_error', 0);
      return this.#end(known, 'InvalidResources', message);
    }
    const delay = this.#backOffLeft(run);
    if (delay > 0) {
      known.timer = this.#ports.clock.setTimer(delay, () => this.setRun(run));
      return;
    }
    const created = parseTime(run.metadata.creationTimestamp ?? '') ?? 0;
    const now = this.#ports.clock.now();
    known.waiting = {
      run,
      requests: requests.amounts,
      priority: run.spec.priority ?? 0,
      created,
      // The API tells whole seconds: one that was created in this one was created just now. So was one that comes back.
      since: now - created < SECOND_MS || attemptOf(run) > 1 ? now : created,
      order: this.#order++,
      gone: false,
    };
    known.group.push(known.waiting);
    this.#offer(known.group);
  }

  /** How long an attempt after a failed one still has to wait. */
  #backOffLeft(run: Run): number {
    const attempt = attemptOf(run);
    const running = findCondition(run.status?.conditions, RunCondition.Running);
    if (attempt <= 1 || running?.status !== 'False') return 0;
    const since = parseTime(running.lastTransitionTime) ?? 0;
    const backOff = backoffBefore(run, attempt);
    // A clock that was set back must not make it longer.
    return Math.min(backOff, since + backOff - this.#ports.clock.now());
  }

  /** Puts the group where turns are taken. */
  #offer(group: RuntimeGroup): void {
    if (!group.hasWork) return;
    const { name, weight } = this.#ports.tenantOf(group.namespace);
    const namespaces = this.#turns.get(name) ?? new FairOrder<FairOrder<RuntimeGroup>>();
    this.#turns.add(name, namespaces, weight);
    const runtimes = namespaces.get(group.namespace) ?? new FairOrder<RuntimeGroup>();
    namespaces.add(group.namespace, runtimes, 1);
    runtimes.add(group.runtime, group, 1);
  }

  #wake(group: RuntimeGroup): void {
    group.wake();
    this.#offer(group);
    this.#pump();
  }

  /** Decides for as long as there is work and room for writes. */
  #pump(): void {
    if (!this.#started || this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#writing < WRITES_AT_ONCE && this.#decideNext());
    } finally {
      this.#pumping = false;
    }
  }

  #decideNext(): boolean {
    const tenant = this.#turns.next();
    if (tenant === undefined) return false;
    const namespace = tenant.value.next();
    if (namespace === undefined) return (this.#turns.remove(tenant.key), true);
    const runtime = namespace.value.next();
    if (runtime === undefined) return (tenant.value.remove(namespace.key), true);
    const group = runtime.value;
    const waiting = group.hasWork ? group.pop() : undefined;
    if (waiting === undefined) return (namespace.value.remove(runtime.key), true);
    this.#decide(group, waiting);
    namespace.value.served(runtime.key);
    tenant.value.served(namespace.key);
    this.#turns.served(tenant.key);
    return true;
  }

  #decide(group: RuntimeGroup, waiting: WaitingRun): void {
    const { clock, metrics } = this.#ports;
    const { run } = waiting;
    const known = this.#runs.get(run.metadata.uid!);
    if (known === undefined || known.waiting !== waiting) return;
    const began = clock.monotonic();
    const placement = placeRun(run, waiting.requests, group.pods(), began);
    const seconds = (clock.monotonic() - began) / 1000;
    if ('message' in placement) {
      metrics.decided(group.runtime, 'no_pods', seconds);
      metrics.rejected(placement.rejection);
      if (placement.full) {
        group.push(waiting);
        group.markFull();
      } else {
        group.setAside(waiting);
      }
      this.#sayThatItWaits(known, placement.message);
      return;
    }
    known.waiting = undefined;
    known.assumedAttempt = attemptOf(run);
    this.#hold(known, placement.pod.name, placement.pod.uid);
    metrics.decided(group.runtime, 'scheduled', seconds);
    metrics.queued(group.runtime, this.#ports.tenantOf(group.namespace).name, (clock.now() - waiting.since) / 1000);
    const now = new Date(clock.now());
    this.#write(known, assigned(run, placement.pod, now), () => {
      metrics.conflict('bind');
      known.assumedAttempt = undefined;
      if (known.run !== run) return this.setRun(known.run);
      // The watch will show what was in the way: asking again before would be refused again.
      this.#leave(run.metadata.uid!, known, undefined);
      known.placedOn = undefined;
      known.timer = clock.setTimer(REFUSED_MS, () => this.setRun(run));
    });
  }

  #sayThatItWaits(known: KnownRun, message: string): void {
    if (known.run.status?.message === message || known.timer !== undefined) return;
    known.timer = this.#ports.clock.setTimer(PATIENCE_MS, () => {
      known.timer = undefined;
      if (known.waiting === undefined || known.waiting.gone) return;
      this.#write(known, waitingForPod(known.run, message), () => {});
    });
  }

  #end(known: KnownRun, reason: FailureReason, message: string): void {
    this.#write(known, failed(known.run, { reason, message }, new Date(this.#ports.clock.now())), () => {});
  }

  #write(known: KnownRun, status: RunStatus, onRefused: () => void): void {
    this.#writing++;
    this.#ports
      .writeStatus(known.run, status)
      .catch((error: unknown) => {
        const isExpected = isStatusError(error, 'Conflict') || isStatusError(error, 'NotFound');
        const { namespace, name } = known.run.metadata;
        if (!isExpected) this.#ports.log.warn('cannot write the status of a Run', { run: `${namespace}/${name}`, error });
        if (this.#runs.get(known.run.metadata.uid!) === known) onRefused();
      })
      .finally(() => {
        this.#writing--;
        this.#pump();
      });
  }

  /** A timer, because no watch tells that time has passed: heartbeats age, and a lost race may have left a Run behind. */
  #retryLater(): void {
    const timer = this.#ports.clock.setTimer(RETRY_MS, () => {
      this.#retry.splice(0);
      for (const group of this.#groups.values()) if (group.waiting > 0) this.#wake(group);
      this.#retryLater();
    });
    this.#retry.push(timer);
  }
}

/** Placed by us and taken back from its Pod, which we may see at once when the watch had to begin again. */
function wasGivenBack(run: Run, decidedOn: Run): boolean {
  const [now, before] = [run, decidedOn].map(({ status }) => findCondition(status?.conditions, RunCondition.Scheduled));
  return now?.status === 'False' && now.lastTransitionTime !== before?.lastTransitionTime;
}

function keyOf(namespace: string, runtime: string): string {
  return `${namespace}/${runtime}`;
}
