import type { StoreEvent } from '../store.ts';

/** What one event keeps in memory besides the bytes of the version it replaced. */
const EVENT_OVERHEAD = 400;

/** The events of the newest writes. Every write makes one event and one revision, so an event's place follows from its revision. */
export class History {
  #events: StoreEvent[] = [];
  #start = 0;
  #cost = 0;

  get length(): number {
    return this.#events.length - this.#start;
  }

  /** Bytes that would be freed if all events were dropped. */
  get cost(): number {
    return this.#cost;
  }

  append(event: StoreEvent): void {
    this.#events.push(event);
    this.#cost += costOf(event);
  }

  /** Events with a revision above `revision`, oldest first. The caller has checked that none of them was dropped. */
  after(revision: number, limit = Number.POSITIVE_INFINITY): StoreEvent[] {
    if (this.length === 0) return [];
    const from = this.#start + Math.max(0, revision + 1 - this.#events[this.#start].revision);
    return this.#events.slice(from, from + limit);
  }

  oldest(): StoreEvent | undefined {
    return this.#events[this.#start];
  }

  dropOldest(): void {
    const event = this.#events[this.#start];
    if (!event) return;
    this.#cost -= costOf(event);
    this.#events[this.#start] = undefined!;
    this.#start++;
    if (this.#start === this.#events.length) {
      this.#events = [];
      this.#start = 0;
    } else if (this.#start >= 1024 && this.#start * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#start);
      this.#start = 0;
    }
  }
}

function costOf(event: StoreEvent): number {
  const superseded = event.previous ? event.previous.bytes.length : 0;
  const lastState = event.type === 'remove' ? event.entry.bytes.length : 0;
  return EVENT_OVERHEAD + superseded + lastState;
}
