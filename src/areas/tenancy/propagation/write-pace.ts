import type { KubeObject } from '../../../kube/object.ts';
import { backoffDelay } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';

export const WRITE_BACKOFF = { initialMs: 250, maxMs: 10_000, jitter: 0.1 };

interface Attempts {
  /** Which state of which object was written. */
  about: string;
  times: number;
  notBefore: number;
}

/**
 * How often the same thing is written to the same place. A copy that is refused, or that somebody else changes again and again, is
 * tried ever more seldom; a new state of its source is tried at once.
 */
export class WritePace {
  #clock: Clock;
  #attempts = new Map<string, Attempts>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until this may be written. */
  wait(key: string, object: KubeObject): number {
    const known = this.#attempts.get(key);
    return known?.about === versionOf(object) ? Math.max(0, known.notBefore - this.#clock.monotonic()) : 0;
  }

  /** Somebody may have a reason to undo it: the next time is at once, those after it are not. */
  written(key: string, object: KubeObject): void {
    const known = this.#of(key, object);
    known.notBefore = this.#clock.monotonic() + (known.times === 0 ? 0 : backoffDelay(known.times, WRITE_BACKOFF));
    known.times++;
  }

  /** @returns milliseconds until it may be tried again */
  failed(key: string, object: KubeObject): number {
    const known = this.#of(key, object);
    const wait = backoffDelay(++known.times, WRITE_BACKOFF);
    known.notBefore = this.#clock.monotonic() + wait;
    return wait;
  }

  forget(key: string): void {
    this.#attempts.delete(key);
  }

  #of(key: string, object: KubeObject): Attempts {
    const about = versionOf(object);
    let known = this.#attempts.get(key);
    if (known?.about !== about) this.#attempts.set(key, (known = { about, times: 0, notBefore: 0 }));
    return known;
  }
}

function versionOf({ metadata }: KubeObject): string {
  return `${metadata.uid}/${metadata.resourceVersion}`;
}
