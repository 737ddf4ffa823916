import type { FilterName } from '../model/filter.ts';
import type { PodInfo } from '../model/pod-info.ts';
import { BinaryHeap } from '../../../lib/binary-heap.ts';

/** A Pod that waits for a node. */
export interface QueuedPod {
  info: PodInfo;
  class: PodClass;
  /** Its place in the order of arrival; kept when it comes back. */
  order: number;
  /** Failures of its own, such as a binding that was refused. */
  errors: number;
  /** What was last said of it. */
  told: string | undefined;
  gone: boolean;
}

/** A place in the queue for a class; `order` is that of its head when it was put there. */
export interface Entry {
  class: PodClass;
  order: number;
  /** Others go first until then. */
  until: number;
}

/** Why nobody of a class found a node. */
export interface ClassFailure {
  text: string;
  filters: ReadonlySet<FilterName>;
}

/**
 * Pods that are the same to the scheduler. What refuses one refuses all, so a class sleeps and wakes as a whole: ten thousand replicas that
 * do not fit cost as much as one.
 */
export class PodClass {
  readonly signature: string;
  readonly priority: number;
  /** Asleep when there is one. */
  failure: ClassFailure | undefined;
  /** Failures in a row. */
  attempts = 0;
  backoffUntil = 0;
  /** Where it stands in the queue; entries that it left behind do not count. */
  entry: Entry | undefined;
  /** Pods here, whoever is being worked on not among them. */
  size = 0;
  #pods = new BinaryHeap<QueuedPod>((a, b) => a.order < b.order);

  constructor(signature: string, priority: number) {
    this.signature = signature;
    this.priority = priority;
  }

  /** The Pod that has waited longest. */
  head(): QueuedPod | undefined {
    for (let pod = this.#pods.peek(); pod; pod = this.#pods.peek()) {
      if (!pod.gone) return pod;
      this.#pods.pop();
    }
    return undefined;
  }

  *members(): IterableIterator<QueuedPod> {
    for (const pod of this.#pods) if (!pod.gone) yield pod;
  }

  add(pod: QueuedPod): void {
    this.#pods.push(pod);
    this.size++;
  }

  /** Takes the head. */
  take(): QueuedPod | undefined {
    const head = this.head();
    if (!head) return undefined;
    this.#pods.pop();
    this.size--;
    return head;
  }

  /** It leaves its place when that is reached. */
  drop(pod: QueuedPod): void {
    pod.gone = true;
    this.size--;
  }
}
