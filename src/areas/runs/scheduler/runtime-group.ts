import type { Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import type { Labels } from '../../../kube/label-selector.ts';
import { BinaryHeap } from '../../../lib/binary-heap.ts';
import type { ResourceAmounts } from '../../../api/kruntimes.io/v1alpha1/capacity.ts';
import type { PlacedPod } from './model/placement.ts';
import type { RuntimePod } from './model/runtime-pod.ts';

/** A Run that waits for a place. */
export interface WaitingRun {
  run: Run;
  requests: ResourceAmounts;
  priority: number;
  created: number;
  /** Since when it waits, as exactly as we know. */
  since: number;
  /** The order in which Runs of the same second came. */
  order: number;
  /** Left the queue without being taken from it. */
  gone: boolean;
}

interface PodState extends PlacedPod {
  used: Map<string, number>;
  placed: Map<string, { labels: Labels; requests: ResourceAmounts }>;
}

/** The Runs and Pods of one Runtime in one namespace: the queue, and what is used of each Pod. */
export class RuntimeGroup {
  readonly namespace: string;
  readonly runtime: string;
  readonly #pods = new Map<string, PodState>();
  readonly #queue = new BinaryHeap<WaitingRun>(before);
  /** Runs that found no place though others might: they wait for the next change. */
  #aside: WaitingRun[] = [];
  #queued = 0;
  /** No place for any Run until something changes. */
  #full = false;

  constructor(namespace: string, runtime: string) {
    this.namespace = namespace;
    this.runtime = runtime;
  }

  /** Whether a decision can be made now. */
  get hasWork(): boolean {
    return !this.#full && this.#queued > 0;
  }

  get isEmpty(): boolean {
    return this.#pods.size === 0 && this.#queued === 0 && this.#aside.length === 0;
  }

  get waiting(): number {
    return this.#queued + this.#aside.length;
  }

  push(waiting: WaitingRun): void {
    this.#queue.push(waiting);
    this.#queued++;
  }

  pop(): WaitingRun | undefined {
    for (let next = this.#queue.pop(); next !== undefined; next = this.#queue.pop()) {
      if (next.gone) continue;
      this.#queued--;
      return next;
    }
    return undefined;
  }

  /** The Run was deleted, cancelled or placed by somebody else. */
  drop(waiting: WaitingRun): void {
    if (waiting.gone) return;
    waiting.gone = true;
    const at = this.#aside.indexOf(waiting);
    if (at >= 0) this.#aside.splice(at, 1);
    else this.#queued--;
  }

  setAside(waiting: WaitingRun): void {
    this.#aside.push(waiting);
  }

  markFull(): void {
    this.#full = true;
  }

  /** Something changed that may make a place. */
  wake(): void {
    this.#full = false;
    for (const waiting of this.#aside.splice(0)) if (!waiting.gone) this.push(waiting);
  }

  pods(): Iterable<PlacedPod> {
    return this.#pods.values();
  }

  pod(name: string): RuntimePod | undefined {
    return this.#pods.get(name)?.pod;
  }

  setPod(pod: RuntimePod): void {
    const known = this.#pods.get(pod.name);
    if (known !== undefined && known.pod.uid === pod.uid) known.pod = pod;
    else this.#pods.set(pod.name, emptyPod(pod));
  }

  /** What was on it is gone with it, whatever the Runs' status still says. */
  removePod(name: string): void {
    this.#pods.delete(name);
  }

  /** Counts a Run on a Pod. A Run on a Pod that is not known takes nothing from anybody. */
  place(runUid: string, podName: string, podUid: string | undefined, labels: Labels, requests: ResourceAmounts): void {
    const state = this.#pods.get(podName);
    if (state === undefined || (podUid !== undefined && state.pod.uid !== podUid) || state.placed.has(runUid)) return;
    state.placed.set(runUid, { labels, requests });
    for (const [name, amount] of requests) state.used.set(name, (state.used.get(name) ?? 0) + amount);
  }

  /** @returns whether anything became free */
  release(runUid: string, podName: string): boolean {
    const state = this.#pods.get(podName);
    const placed = state?.placed.get(runUid);
    if (state === undefined || placed === undefined) return false;
    state.placed.delete(runUid);
    for (const [name, amount] of placed.requests) state.used.set(name, (state.used.get(name) ?? 0) - amount);
    return true;
  }

  /** How much of a resource is taken on a Pod. */
  usedOn(podName: string, resource: string): number {
    return this.#pods.get(podName)?.used.get(resource) ?? 0;
  }
}

function emptyPod(pod: RuntimePod): PodState {
  const placed: PodState['placed'] = new Map();
  return {
    pod,
    used: new Map(),
    placed,
    labels: {
      *[Symbol.iterator]() {
        for (const { labels } of placed.values()) yield labels;
      },
    },
  };
}

/** The higher priority first; then who came first. */
function before(a: WaitingRun, b: WaitingRun): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority;
  return a.created !== b.created ? a.created < b.created : a.order < b.order;
}
