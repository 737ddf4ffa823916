import type { KubeObject } from '../../../kube/object.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';

/** A write that was let in is seen long before, or was refused by somebody else. */
const REMEMBERED_MS = 5000;

/** Objects, with those that were let in and are not seen yet: no two get the same room. */
export class JustAdmitted<T extends KubeObject> {
  readonly #seen: Informer<T>;
  readonly #clock: Clock;
  readonly #admitted = new Map<string, { object: T; until: number }>();

  constructor(seen: Informer<T>, clock: Clock) {
    this.#seen = seen;
    this.#clock = clock;
    seen.onChange(({ object }) => this.#admitted.delete(keyOf(object)));
  }

  add(object: T): void {
    if (object.metadata.name === undefined) return;
    this.#admitted.set(keyOf(object), { object, until: this.#clock.monotonic() + REMEMBERED_MS });
  }

  of(namespace: string): T[] {
    return this.all().filter(({ metadata }) => metadata.namespace === namespace);
  }

  all(): T[] {
    const now = this.#clock.monotonic();
    const objects = new Map([...this.#seen.list()].map((object) => [keyOf(object), object]));
    for (const [key, { object, until }] of this.#admitted) {
      if (until <= now) this.#admitted.delete(key);
      else objects.set(key, object);
    }
    return [...objects.values()];
  }
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}
