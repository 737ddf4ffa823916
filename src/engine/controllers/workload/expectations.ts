import type { KubeObject } from '../../../kube/object.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';

interface Expected {
  created: KubeObject[];
  deleted: KubeObject[];
  since: number;
}

/** As upstream: a write that the cache never shows (made and gone during a broken watch) is forgotten after this. */
const FORGET_AFTER_MS = 5 * 60_000;

/**
 * What a controller wrote and its cache does not show yet. Until it does, counting again would create or delete too much. Every change
 * of a Pod wakes its owner, so nothing has to be asked for; only the oldest age is a timer.
 */
export class Expectations {
  #cache: Informer;
  #now: () => number;
  #expected = new Map<string, Expected>();
  #seen = 0;
  #stop: () => void;

  constructor(cache: Informer, now: () => number) {
    this.#cache = cache;
    this.#now = now;
    this.#stop = cache.onChange(({ object }) => {
      const version = Number(object.metadata.resourceVersion);
      if (version > this.#seen) this.#seen = version;
    });
  }

  created(key: string, object: KubeObject): void {
    this.#of(key).created.push(object);
  }

  deleted(key: string, object: KubeObject): void {
    this.#of(key).deleted.push(object);
  }

  /** Milliseconds to wait at most; 0 when the cache shows all. */
  pending(key: string): number {
    const expected = this.#expected.get(key);
    if (!expected) return 0;
    expected.created = expected.created.filter((object) => !this.#showsCreated(object));
    expected.deleted = expected.deleted.filter((object) => !this.#showsDeleted(object));
    const left = expected.since + FORGET_AFTER_MS - this.#now();
    if (left > 0 && expected.created.length + expected.deleted.length > 0) return left;
    this.#expected.delete(key);
    return 0;
  }

  forget(key: string): void {
    this.#expected.delete(key);
  }

  close(): void {
    this.#stop();
  }

  /** It is there, or the cache is past its creation, so that it came and went. */
  #showsCreated(object: KubeObject): boolean {
    const cached = this.#cache.get(keyOf(object));
    return cached?.metadata.uid === object.metadata.uid || this.#seen > Number(object.metadata.resourceVersion);
  }

  #showsDeleted(object: KubeObject): boolean {
    const cached = this.#cache.get(keyOf(object));
    return cached?.metadata.uid !== object.metadata.uid || cached?.metadata.deletionTimestamp !== undefined;
  }

  #of(key: string): Expected {
    let expected = this.#expected.get(key);
    if (!expected) this.#expected.set(key, (expected = { created: [], deleted: [], since: 0 }));
    expected.since = this.#now();
    return expected;
  }
}
