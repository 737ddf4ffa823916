import type { KubeObject } from '../../../kube/object.ts';

/** After so long an answer that never came to the cache is no longer waited for. */
const GIVE_UP_MS = 5000;

/** What was written but is not in the cache yet: deciding again before it is there would write it twice. */
export class OwnWrites {
  #pending = new Map<string, Map<string, { generation: number; at: number }>>();

  wrote(key: string, { metadata }: KubeObject, now: number): void {
    let objects = this.#pending.get(key);
    if (!objects) this.#pending.set(key, (objects = new Map()));
    objects.set(metadata.name!, { generation: metadata.generation ?? 0, at: now });
  }

  /** Milliseconds to wait for the cache; undefined when it knows everything. */
  waitMs(key: string, cached: (name: string) => KubeObject | undefined, now: number): number | undefined {
    const objects = this.#pending.get(key);
    if (!objects) return undefined;
    let wait: number | undefined;
    for (const [name, { generation, at }] of objects) {
      const left = at + GIVE_UP_MS - now;
      const seen = cached(name);
      if (left <= 0 || (seen && (seen.metadata.generation ?? 0) >= generation)) objects.delete(name);
      else wait = Math.max(wait ?? 0, left);
    }
    if (objects.size === 0) this.#pending.delete(key);
    return wait;
  }

  gone(key: string, name: string): void {
    this.#pending.get(key)?.delete(name);
  }

  forget(key: string): void {
    this.#pending.delete(key);
  }
}
