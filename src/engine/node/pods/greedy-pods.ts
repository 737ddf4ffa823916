import type { PodSpec } from '../../../kube/generated/core-v1.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import { wereScarce, type ProcessorTimes } from '../../../lib/processor-times.ts';
import { repeatedly } from '../../../lib/repeatedly.ts';
import type { PodProcessors } from '../drivers/driver.ts';
import { podLimits } from './model/container-spec.ts';
import { allowance, isGreedy, usedLately } from './model/greed.ts';
import { referenceTo } from './model/pod-object.ts';
import type { PodWorker } from './pod-worker.ts';

const LOOK_MS = 500;
/** Processors have to be enough for so many looks before everybody is equal again: a flood has gaps. */
const ENOUGH_LOOKS = 3;

export interface GreedyPodsOptions {
  clock: Clock;
  log: Log;
  /** The same object for the same Pod each time. */
  pods(): Iterable<Pick<PodWorker, 'uid' | 'pod' | 'sandbox' | 'cleared' | 'isEnding'>>;
  /** Absent where Pods cannot be made to give way. */
  turns: PodProcessors | undefined;
  times(): ProcessorTimes;
}

type Watched = Pick<PodWorker, 'uid' | 'pod'>;

interface Seen {
  pod: Watched;
  spec: PodSpec;
  allowed: number;
  /** In processors. */
  lately: number;
  last?: { nanoseconds: number; at: number };
  givesWay: boolean;
}

/**
 * Lets Pods that use more of the processors than they asked for give way to those that do not. Without that, who wakes up for a moment waits for
 * the end of a slice of the one who never stops, each time. Pods are looked at only while processors are scarce; no watch tells that.
 */
export class GreedyPods {
  readonly #options: GreedyPodsOptions;
  readonly #seen = new Map<string, Seen>();
  /** Of those that end. */
  readonly #freed = new WeakSet<Watched>();
  #turns: PodProcessors | undefined;
  #times: ProcessorTimes | undefined;
  #looksWithEnough = ENOUGH_LOOKS;
  #timer: Timer | undefined;

  constructor(options: GreedyPodsOptions) {
    this.#options = options;
    this.#turns = options.turns;
  }

  /** Of Pods that an agent before this one has made to give way it knows nothing: whose sandbox is taken over is equal by that. */
  start(): void {
    if (this.#turns === undefined) return this.#giveUp('they have no cgroups');
    this.#freeEnding();
    this.#timer = repeatedly(this.#options.clock, LOOK_MS, async () => this.#look());
  }

  /** Everybody is equal again afterwards. */
  stop(): void {
    this.#timer?.cancel();
    this.#calmAll();
  }

  /** The last commands of a Pod need processors as well: who is ending is equal from then on. */
  #freeEnding(): void {
    for (const pod of this.#options.pods()) {
      if (!pod.isEnding || pod.cleared || this.#freed.has(pod)) continue;
      // Nobody takes over the sandbox of one that is ending: an agent before this one may have made it give way.
      const mayGiveWay = pod.sandbox === undefined || this.#seen.get(pod.uid)?.givesWay;
      this.#trying(pod, () => {
        if (mayGiveWay) this.#turns?.giveWay(sandboxOf(pod), false);
        this.#freed.add(pod);
      });
    }
  }

  #look(): void {
    this.#freeEnding();
    const there = new Set<string>();
    for (const pod of this.#options.pods()) if (pod.sandbox !== undefined && !pod.cleared && !this.#freed.has(pod)) there.add(pod.uid);
    for (const uid of this.#seen.keys()) if (!there.has(uid)) this.#seen.delete(uid);
    if (there.size === 0) return void (this.#times = undefined);
    if (!this.#areScarce()) return this.#calmAll();
    for (const pod of this.#options.pods()) if (there.has(pod.uid)) this.#trying(pod, () => this.#follow(pod));
  }

  #areScarce(): boolean {
    const [before, now] = [this.#times, this.#options.times()];
    this.#times = now;
    this.#looksWithEnough = wereScarce(before, now) ? 0 : this.#looksWithEnough + 1;
    return this.#looksWithEnough < ENOUGH_LOOKS;
  }

  #follow(pod: Watched): void {
    const nanoseconds = this.#turns?.used(pod.uid);
    if (nanoseconds === undefined) return;
    const seen = this.#seenOf(pod);
    const at = this.#options.clock.monotonic();
    const { last } = seen;
    seen.last = { nanoseconds, at };
    if (last === undefined || at <= last.at) return;
    seen.lately = usedLately(seen.lately, (nanoseconds - last.nanoseconds) / 1e6 / (at - last.at), seen.allowed);
    this.#setGivesWay(seen, isGreedy(seen.lately, seen.allowed, seen.givesWay));
  }

  #seenOf(pod: Watched): Seen {
    const spec = pod.pod.spec!;
    const known = this.#seen.get(pod.uid);
    if (known?.spec === spec) return known;
    const seen: Seen = { lately: 0, givesWay: false, ...known, pod, spec, allowed: allowance(spec) };
    this.#seen.set(pod.uid, seen);
    return seen;
  }

  #calmAll(): void {
    for (const [uid, seen] of this.#seen) {
      this.#trying(seen.pod, () => this.#setGivesWay(seen, false));
      if (!seen.givesWay) this.#seen.delete(uid);
    }
  }

  #setGivesWay(seen: Seen, gives: boolean): void {
    if (gives === seen.givesWay || this.#turns === undefined) return;
    if (!this.#turns.giveWay(sandboxOf(seen.pod), gives)) return this.#giveUp('the kernel is older than Linux 5.15');
    seen.givesWay = gives;
  }

  /** One that cannot be made to give way now, or whose use cannot be read, stays as it is until the next look, and nobody else waits for it. */
  #trying({ pod }: Watched, work: () => unknown): void {
    try {
      work();
    } catch (error) {
      this.#options.log.debug('cannot tell how a Pod shares processors', {
        namespace: pod.metadata.namespace,
        pod: pod.metadata.name,
        error,
      });
    }
  }

  #giveUp(why: string): void {
    this.#turns = undefined;
    this.#timer?.cancel();
    this.#options.log.debug('Pods that use more processors than they asked for do not give way to others', { why });
  }
}

function sandboxOf({ pod }: Watched) {
  return { pod: referenceTo(pod), limits: podLimits(pod.spec!) };
}
