import type { PodStatus } from '../../../kube/generated/core-v1.ts';
import type { Json } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { Backoff } from '../../../lib/backoff.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { PodObject } from './model/pod-object.ts';
import { statusPatch } from './model/status-patch.ts';

export interface StatusWriterOptions {
  pod: PodObject;
  clock: Clock;
  log: Log;
  /** What the status should be now. */
  compute(pod: PodObject): PodStatus;
  patch(pod: PodObject, status: Json): Promise<PodObject>;
}

/** A Pod that is only on its way is told of after a moment: most run by then, and one write says it all. */
const QUIET_MS = 400;
const RETRY = { initialMs: 100, maxMs: 10_000 };

/**
 * The one who writes a Pod's status. What changes while a write is under way goes with the next; what did not change is not sent. It also
 * holds the newest known version of the Pod, from the watch or from an answer to a write of its own.
 */
export class StatusWriter {
  #options: StatusWriterOptions;
  #pod: PodObject;
  #changed = false;
  #running: Promise<void> | undefined;
  #quiet: Timer | undefined;
  #retryTimer: { timer: Timer; now: () => void } | undefined;
  #closed = false;

  constructor(options: StatusWriterOptions) {
    this.#options = options;
    this.#pod = options.pod;
  }

  get pod(): PodObject {
    return this.#pod;
  }

  /** @returns whether it is newer than what was known. */
  observe(pod: PodObject): boolean {
    if (versionOf(pod) <= versionOf(this.#pod)) return false;
    this.#pod = pod;
    return true;
  }

  /** @param urgent false: it may wait for what comes next. */
  changed(urgent: boolean): void {
    if (this.#closed) return;
    this.#changed = true;
    if (urgent) this.#start();
    else if (!this.#quiet && !this.#running) this.#quiet = this.#options.clock.setTimer(QUIET_MS, () => this.#start());
  }

  /** Resolves when the server knows what there is to know. */
  async flush(): Promise<void> {
    this.changed(true);
    this.#retryTimer?.now();
    await this.#running;
  }

  close(): void {
    this.#closed = true;
    this.#changed = false;
    this.#quiet?.cancel();
    this.#retryTimer?.now();
  }

  #start(): void {
    this.#quiet?.cancel();
    this.#quiet = undefined;
    this.#running ??= this.#write().finally(() => (this.#running = undefined));
  }

  async #write(): Promise<void> {
    const backoff = new Backoff(RETRY);
    while (this.#changed && !this.#closed) {
      this.#changed = false;
      const patch = statusPatch(this.#pod.status ?? {}, this.#options.compute(this.#pod));
      if (patch === undefined) continue;
      try {
        this.observe(await this.#options.patch(this.#pod, patch));
        backoff.reset();
      } catch (error) {
        if (this.#isGone(error)) return;
        this.#changed = true;
        const wait = backoff.next();
        this.#options.log.warn('cannot write the status of a Pod, will try again', { pod: this.#pod.metadata.name, wait, error });
        await this.#pause(wait);
      }
    }
  }

  /** Deleted, or another Pod has its name now. */
  #isGone(error: unknown): boolean {
    return isStatusError(error, 'NotFound') || isStatusError(error, 'Conflict');
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const now = () => {
        this.#retryTimer?.timer.cancel();
        this.#retryTimer = undefined;
        resolve();
      };
      this.#retryTimer = { timer: this.#options.clock.setTimer(ms, now), now };
    });
  }
}

/** Versions of one object can be compared: they are the store's revisions. */
function versionOf({ metadata }: PodObject): bigint {
  return /^\d+$/.test(metadata.resourceVersion ?? '') ? BigInt(metadata.resourceVersion!) : 0n;
}
