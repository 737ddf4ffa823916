import type { Clock, Timer } from '../../../lib/clock.ts';
import type { PodInfo } from '../model/pod-info.ts';
import { signatureOf } from '../model/signature.ts';
import { BinaryHeap } from '../../../lib/binary-heap.ts';
import { PodClass, type ClassFailure, type Entry, type QueuedPod } from './pod-class.ts';

const BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 10_000;

/**
 * Pods that wait for a node: higher priority first, then in the order of their arrival. Classes that were refused sleep until something
 * happens that may help them. One that is woken soon after it failed waits while there is anybody else to try.
 */
export class SchedulingQueue {
  #clock: Clock;
  #classes = new Map<string, PodClass>();
  #pods = new Map<string, QueuedPod>();
  #active = new BinaryHeap<Entry>(
    (a, b) => a.class.priority > b.class.priority || (a.class.priority === b.class.priority && a.order < b.order),
  );
  #heldBack = new BinaryHeap<Entry>((a, b) => a.until < b.until);
  #inHand: { pod: QueuedPod; woken: boolean } | undefined;
  #retries = new Map<string, Timer>();
  #order = 0;
  #waiters: (() => void)[] = [];
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Pods that wait, by what they wait for. */
  counts(): { active: number; asleep: number; retrying: number } {
    let active = 0;
    let asleep = 0;
    for (const group of this.#classes.values()) {
      if (group.failure) asleep += group.size;
      else active += group.size;
    }
    return { active, asleep, retrying: this.#retries.size };
  }

  has(key: string): boolean {
    return this.#pods.has(key);
  }

  /** Adds a Pod, or takes over what changed of it. @returns why it cannot run, when that is known already. */
  add(info: PodInfo): ClassFailure | undefined {
    const known = this.#pods.get(info.key);
    const signature = signatureOf(info.pod);
    if (known && known.class.signature === signature && known.info.pod.metadata.uid === info.pod.metadata.uid) {
      known.info = info;
      return undefined;
    }
    if (known) this.remove(info.key);
    const group = this.#class(signature, info.priority);
    const pod: QueuedPod = { info, class: group, order: known?.order ?? ++this.#order, errors: 0, told: undefined, gone: false };
    this.#pods.set(info.key, pod);
    this.#enter(pod);
    return group.failure;
  }

  remove(key: string): void {
    const pod = this.#pods.get(key);
    if (!pod) return;
    this.#pods.delete(key);
    this.#retries.get(key)?.cancel();
    const waits = !this.#retries.delete(key) && this.#inHand?.pod !== pod;
    if (waits) pod.class.drop(pod);
    pod.gone = true;
    this.#forgetIfEmpty(pod.class);
  }

  /** The next Pod to try. It must be given back with `done`, `sleep` or `retry`. */
  pop(): QueuedPod | undefined {
    const pod = this.#popFrom(this.#active) ?? this.#popFrom(this.#heldBack);
    if (pod) this.#inHand = { pod, woken: false };
    return pod;
  }

  /** The Pod found a node; the class goes on. */
  done(pod: QueuedPod): void {
    this.#inHand = undefined;
    if (this.#pods.get(pod.info.key) === pod) this.#pods.delete(pod.info.key);
    pod.class.attempts = 0;
    this.#activate(pod.class);
    this.#forgetIfEmpty(pod.class);
  }

  /** The Pod was refused, and with it its class, unless something happened meanwhile that may help. @returns the Pods this is news to. */
  sleep(pod: QueuedPod, failure: ClassFailure): QueuedPod[] {
    const woken = this.#inHand?.woken ?? false;
    this.#inHand = undefined;
    const group = pod.class;
    if (!pod.gone) group.add(pod);
    group.attempts++;
    group.backoffUntil = this.#clock.monotonic() + Math.min(BACKOFF_MS * 2 ** (group.attempts - 1), MAX_BACKOFF_MS);
    group.failure = failure;
    const news = [...group.members()].filter(({ told }) => told !== failure.text);
    if (woken) this.#wake(group);
    this.#forgetIfEmpty(group);
    return news;
  }

  /** The Pod was promised a node and waits for others to leave it: from now on it is like no other. The class goes on. */
  promise(pod: QueuedPod, info: PodInfo, failure: ClassFailure): void {
    this.#inHand = undefined;
    if (!pod.gone) {
      pod.gone = true;
      const group = this.#class(signatureOf(info.pod), info.priority);
      const promised: QueuedPod = { ...pod, info, class: group, gone: false };
      this.#pods.set(info.key, promised);
      group.failure = failure;
      group.add(promised);
    }
    this.#activate(pod.class);
    this.#forgetIfEmpty(pod.class);
  }

  /** Something went wrong with this Pod alone, after it was done: it comes again later. */
  retry(pod: QueuedPod): void {
    const { key } = pod.info;
    if (pod.gone || this.#closed || this.#pods.has(key)) return;
    this.#pods.set(key, pod);
    // A timer, because nobody says when what went wrong is over.
    const wait = Math.min(BACKOFF_MS * 2 ** pod.errors++, MAX_BACKOFF_MS);
    const timer = this.#clock.setTimer(wait, () => {
      this.#retries.delete(key);
      pod.class = this.#class(pod.class.signature, pod.class.priority);
      this.#enter(pod);
    });
    this.#retries.set(key, timer);
  }

  /** Wakes the classes that `mayHelp` picks, given one of their Pods. */
  wake(mayHelp: (failure: ClassFailure, example: PodInfo) => boolean): void {
    if (this.#inHand) this.#inHand.woken = true;
    for (const group of this.#classes.values()) {
      const head = group.failure && group.head();
      if (head && mayHelp(group.failure!, head.info)) this.#wake(group);
    }
  }

  /** Resolves when there may be somebody to try. */
  whenReady(): Promise<void> {
    if (this.#closed || this.#active.size > 0 || this.#heldBack.size > 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#retries.values()) timer.cancel();
    this.#retries.clear();
    this.#announce();
  }

  #class(signature: string, priority: number): PodClass {
    let group = this.#classes.get(signature);
    if (!group) this.#classes.set(signature, (group = new PodClass(signature, priority)));
    return group;
  }

  #enter(pod: QueuedPod): void {
    const head = pod.class.head();
    pod.class.add(pod);
    if (!pod.class.failure && (!head || pod.order < head.order)) this.#activate(pod.class);
  }

  #wake(group: PodClass): void {
    group.failure = undefined;
    this.#activate(group);
  }

  #activate(group: PodClass): void {
    const head = group.failure ? undefined : group.head();
    if (!head || group.entry?.order === head.order) return;
    const until = group.attempts > 0 ? group.backoffUntil : 0;
    group.entry = { class: group, order: head.order, until };
    (until > this.#clock.monotonic() ? this.#heldBack : this.#active).push(group.entry);
    this.#announce();
  }

  /** Entries are not taken out when a class sleeps or its head goes: what no longer holds is skipped here. */
  #popFrom(heap: BinaryHeap<Entry>): QueuedPod | undefined {
    for (let entry = heap.pop(); entry; entry = heap.pop()) {
      const { class: group } = entry;
      if (group.entry !== entry) continue;
      group.entry = undefined;
      const head = group.failure ? undefined : group.head();
      if (head?.order === entry.order) return group.take();
      this.#activate(group);
    }
    return undefined;
  }

  #forgetIfEmpty(group: PodClass): void {
    if (group.size === 0 && this.#inHand?.pod.class !== group) this.#classes.delete(group.signature);
  }

  #announce(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}
