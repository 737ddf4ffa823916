import type { Client } from '../../client/client.ts';
import { isStatusError } from '../../kube/status.ts';
import type { Clock } from '../../lib/clock.ts';
import { errorText, type Log } from '../../lib/log.ts';
import { turns } from '../../lib/turn-queue.ts';
import type { EventRecorder } from '../../runtime/event-recorder.ts';
import { nextTurn } from '../../runtime/informer/reflector.ts';
import { bindPod, type BinderOptions } from './binder.ts';
import type { ClusterCache } from './cluster-cache.ts';
import { decide, type Decision } from './model/decide.ts';
import { fitErrorText, type Diagnosis } from './model/fit-error.ts';
import type { NodeInfo } from './model/node-info.ts';
import type { PodInfo } from './model/pod-info.ts';
import type { Budget, Candidate } from './model/preemption.ts';
import { evictVictims, planPreemption } from './preempt.ts';
import type { QueuedPod } from './queue/pod-class.ts';
import type { SchedulingQueue } from './queue/scheduling-queue.ts';
import type { SchedulerMetrics } from './scheduler-metrics.ts';
import type { StatusWriter } from './status-writer.ts';
import { podCame, podLeft, promiseWithdrawn } from './wake-ups.ts';

export interface SchedulerOptions {
  client: Client;
  clock: Clock;
  log: Log;
  random: () => number;
  cache: ClusterCache;
  queue: SchedulingQueue;
  writer: StatusWriter;
  events: EventRecorder;
  metrics: SchedulerMetrics;
  budgets(): Budget[];
  binding: BinderOptions;
  signal: AbortSignal;
}

/** Decisions made in one go before others get their turn. */
const SLICE_MS = 2;
/** The same while others have used up the turn. */
const SHORT_SLICE_MS = 0.5;
/** Bindings under way at once: writes that travel together share one commit of the store. */
const MAX_BINDINGS = 64;
/**
 * What kube-scheduler says of resource claims before it says what came of preemption. Where a Pod was refused before nodes were looked at, it
 * finds nothing of what it noted about claims, and says only that.
 */
const NO_CLAIMS = 'no new claims to deallocate';
const NOT_ATTEMPTED = 'not found';

/** One Pod after another: decide, assume, and bind while the next is decided. */
export class Scheduler {
  #options: SchedulerOptions;
  #bindings = new Set<Promise<void>>();
  #evictions = new Set<Promise<void>>();
  #start = 0;
  #turnBegan = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Works until the signal fires. */
  async run(): Promise<void> {
    const { queue, signal } = this.#options;
    this.#turnBegan = performance.now();
    while (!signal.aborted) {
      const pod = queue.pop();
      if (pod) await this.#schedule(pod);
      else await this.#rest(() => queue.whenReady());
      if (this.#bindings.size >= MAX_BINDINGS) await this.#rest(() => Promise.race(this.#bindings));
      if (this.#isTurnOver()) await this.#rest(nextTurn);
    }
    await Promise.all([...this.#bindings, ...this.#evictions]);
  }

  async #rest(wait: () => Promise<void>): Promise<void> {
    await wait();
    this.#turnBegan = performance.now();
  }

  #isTurnOver(): boolean {
    const worked = performance.now() - this.#turnBegan;
    return worked > SLICE_MS || (worked > SHORT_SLICE_MS && !turns.turn.hasTime());
  }

  /** Returns a promise only where it has to wait: a thousand Pods that fit should not cost a thousand promises. */
  #schedule(pod: QueuedPod): Promise<void> | void {
    const { cache, queue, metrics, random } = this.#options;
    const began = performance.now();
    const took = (): number => (performance.now() - began) / 1000;
    if (cache.nodes.length === 0) {
      this.#refused(pod, 'no nodes available to schedule pods', { refusals: new Map(), nodes: 0, filters: new Set() });
      return undefined;
    }
    let decision: Decision;
    try {
      decision = decide(pod.info, cache, this.#start++ % cache.nodes.length, random);
    } catch (error) {
      // Nothing that the API lets in should end here; if it does, one Pod must not stop all others.
      queue.done(pod);
      this.#failed(pod, error);
      return undefined;
    }
    if (decision.node) {
      this.#assume(pod, decision.node, decision.cycle.volumes?.steps(decision.node) ?? []);
      metrics.attempted('scheduled', took());
      return undefined;
    }
    return this.#makeRoom(pod, decision).finally(() => metrics.attempted('unschedulable', took()));
  }

  #assume(pod: QueuedPod, node: NodeInfo, steps: Parameters<typeof bindPod>[3]): void {
    const { cache, queue, writer } = this.#options;
    const { info } = pod;
    const promised = cache.nomination(info.key);
    cache.place(info, node.name, true);
    queue.done(pod);
    writer.forget(info.key);
    queue.wake(podCame(info, cache.namespaceLabels));
    if (promised !== undefined && promised !== node.name) queue.wake(promiseWithdrawn);
    const binding = this.#bind(pod, node, steps).finally(() => this.#bindings.delete(binding));
    this.#bindings.add(binding);
  }

  async #bind(pod: QueuedPod, node: NodeInfo, steps: Parameters<typeof bindPod>[3]): Promise<void> {
    const { events, binding, cache, queue, signal } = this.#options;
    const { info } = pod;
    try {
      await bindPod(binding, info, node.name, steps);
      const message = `Successfully assigned ${info.key} to ${node.name}`;
      events.record(info.pod, { type: 'Normal', reason: 'Scheduled', action: 'Binding', message });
    } catch (error) {
      // The server may have bound it and only the answer was lost: then the Pod's own news has come already.
      if (signal.aborted || !cache.isAssumed(info.key)) return;
      const left = cache.unplace(info.key);
      queue.wake(podLeft(info, left));
      // Gone or taken by somebody else: the watch tells, if it has not yet.
      if (!isStatusError(error, 'NotFound')) this.#failed(pod, error);
    }
  }

  /** Something went wrong that is not about nodes. */
  #failed(pod: QueuedPod, error: unknown): void {
    const { writer, queue, metrics, log } = this.#options;
    metrics.attempted('error', 0);
    log.warn('cannot schedule a Pod, will try again', { pod: pod.info.key, error });
    writer.tell({ info: pod.info, reason: 'SchedulerError', message: errorText(error) }, true);
    queue.retry(pod);
  }

  async #makeRoom(pod: QueuedPod, { cycle, diagnosis }: Decision & { diagnosis: Diagnosis }): Promise<void> {
    const { cache, budgets } = this.#options;
    const { info } = pod;
    // What refuses a Pod on every node alike is not helped by room.
    if (!cycle) {
      this.#refused(pod, fitErrorText({ ...diagnosis, preemption: NOT_ATTEMPTED }), diagnosis);
      return;
    }
    const isOver = (): boolean => {
      const over = this.#isTurnOver();
      if (over) this.#turnBegan = performance.now();
      return over;
    };
    const plan = await planPreemption(info, cache, cycle, diagnosis, budgets, { isOver });
    if (plan.candidate) this.#promise(pod, plan.candidate, diagnosis);
    else {
      const text = fitErrorText({ ...diagnosis, preemption: `${NO_CLAIMS}, preemption: ${plan.text}` });
      const cleared = !plan.keepsNode && info.pod.status?.nominatedNodeName !== undefined;
      if (cleared) cache.withdraw(info.key);
      this.#refused(pod, text, diagnosis, cleared ? '' : undefined);
    }
  }

  /** The node is kept for the Pod while the victims leave; their leaving wakes it. */
  #promise(pod: QueuedPod, candidate: Candidate, diagnosis: Diagnosis): void {
    const { cache, queue, writer, metrics, log } = this.#options;
    const { node, victims } = candidate;
    const { gone } = pod;
    const nominated: PodInfo = {
      ...pod.info,
      pod: { ...pod.info.pod, status: { ...pod.info.pod.status, nominatedNodeName: node.name } },
    };
    const message = fitErrorText(diagnosis);
    if (!gone) cache.nominate(nominated, node.name);
    queue.promise(pod, nominated, { text: message, filters: diagnosis.filters });
    // Deleted while we looked: nobody has to leave for it.
    if (gone) return;
    writer.tell({ info: pod.info, reason: 'Unschedulable', message, nominatedNode: node.name }, true);
    metrics.evicted(victims.length);
    const eviction = evictVictims(this.#options, nominated, candidate)
      .catch((error: unknown) => {
        log.warn('cannot make room for a Pod, will try again', { pod: nominated.key, error });
        cache.withdraw(nominated.key);
        queue.wake((_failure, example) => example.key === nominated.key);
      })
      .finally(() => this.#evictions.delete(eviction));
    this.#evictions.add(eviction);
  }

  #refused(pod: QueuedPod, text: string, { filters }: Diagnosis, nominatedNode?: string): void {
    const { queue, writer } = this.#options;
    pod.told = text;
    writer.tell({ info: pod.info, reason: 'Unschedulable', message: text, nominatedNode }, true);
    writer.tellAll(queue.sleep(pod, { text, filters }), text);
  }
}
