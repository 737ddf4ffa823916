import type { Version } from './version.ts';

const CHUNK_KEYS = 512;

interface Chunk {
  /** Newest version of each key, in the order of the keys; never empty. */
  versions: Version[];
  /** How many of them are not removals. */
  live: number;
}

/**
 * The newest version of every key: by key in constant time, and in the order of the keys as a list of small sorted chunks,
 * so that an insert moves at most one chunk's worth of references whatever the number of keys.
 */
export class KeyIndex {
  readonly #byKey = new Map<string, Version>();
  readonly #chunks: Chunk[] = [];
  #live = 0;

  /** Keys that exist, removals not counted. */
  get live(): number {
    return this.#live;
  }

  get(key: string): Version | undefined {
    return this.#byKey.get(key);
  }

  /** Makes `version` the newest of its key. */
  set(version: Version): void {
    const { key } = version;
    const replaced = this.#byKey.get(key);
    this.#byKey.set(key, version);
    const chunkIndex = this.#chunkOf(key);
    if (chunkIndex < 0) {
      if (this.#chunks.length === 0) this.#chunks.push({ versions: [], live: 0 });
      this.#insert(0, 0, version);
      return;
    }
    const chunk = this.#chunks[chunkIndex];
    const position = lowerBound(chunk.versions, key);
    if (!replaced) {
      this.#insert(chunkIndex, position, version);
      return;
    }
    chunk.versions[position] = version;
    this.#countLive(chunk, liveness(version) - liveness(replaced));
  }

  delete(key: string): void {
    const version = this.#byKey.get(key);
    if (!version) return;
    this.#byKey.delete(key);
    const chunkIndex = this.#chunkOf(key);
    const chunk = this.#chunks[chunkIndex];
    chunk.versions.splice(lowerBound(chunk.versions, key), 1);
    this.#countLive(chunk, -liveness(version));
    this.#mergeSmall(chunkIndex);
  }

  /** How many keys exist from `from` (inclusive) to `end` (exclusive; undefined: no end). */
  count(from: string, end: string | undefined): number {
    let total = 0;
    for (let i = Math.max(0, this.#chunkOf(from)); i < this.#chunks.length; i++) {
      const { versions, live } = this.#chunks[i];
      if (end !== undefined && versions[0].key >= end) break;
      if (versions[0].key >= from && (end === undefined || versions[versions.length - 1].key < end)) {
        total += live;
        continue;
      }
      for (let at = lowerBound(versions, from); at < versions.length; at++) {
        if (end !== undefined && versions[at].key >= end) break;
        total += liveness(versions[at]);
      }
    }
    return total;
  }

  /** Calls `visit` with the newest version (removals too) of every key from `from` up to `end`, in order, until it returns false. */
  visit(from: string, end: string | undefined, visit: (newest: Version) => boolean): void {
    let chunkIndex = Math.max(0, this.#chunkOf(from));
    let at = chunkIndex < this.#chunks.length ? lowerBound(this.#chunks[chunkIndex].versions, from) : 0;
    for (; chunkIndex < this.#chunks.length; chunkIndex++, at = 0) {
      const { versions } = this.#chunks[chunkIndex];
      const stop = end === undefined || versions[versions.length - 1].key < end ? versions.length : lowerBound(versions, end);
      for (; at < stop; at++) {
        if (!visit(versions[at])) return;
      }
      if (stop < versions.length) return;
    }
  }

  #insert(chunkIndex: number, position: number, version: Version): void {
    const chunk = this.#chunks[chunkIndex];
    const { versions } = chunk;
    if (versions.length < CHUNK_KEYS) {
      if (position === versions.length) versions.push(version);
      else versions.splice(position, 0, version);
      this.#countLive(chunk, liveness(version));
      return;
    }
    // Keys that arrive in order (a snapshot being loaded, names that count up) leave full chunks behind, not half full ones.
    const keep = position === versions.length ? position : versions.length >> 1;
    const moved = versions.splice(keep);
    const next: Chunk = { versions: moved, live: moved.reduce((sum, each) => sum + liveness(each), 0) };
    chunk.live -= next.live;
    this.#chunks.splice(chunkIndex + 1, 0, next);
    if (position < keep) this.#insert(chunkIndex, position, version);
    else this.#insert(chunkIndex + 1, position - keep, version);
  }

  #mergeSmall(chunkIndex: number): void {
    const chunk = this.#chunks[chunkIndex];
    if (chunk.versions.length === 0) {
      this.#chunks.splice(chunkIndex, 1);
      return;
    }
    const next = this.#chunks[chunkIndex + 1];
    if (!next || chunk.versions.length + next.versions.length > CHUNK_KEYS >> 1) return;
    chunk.versions.push(...next.versions);
    chunk.live += next.live;
    this.#chunks.splice(chunkIndex + 1, 1);
  }

  #countLive(chunk: Chunk, change: number): void {
    chunk.live += change;
    this.#live += change;
  }

  /** The chunk that holds or would hold `key`; -1 when it sorts before every key. */
  #chunkOf(key: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#chunks[middle].versions[0].key <= key) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}

/** The first key behind all keys that start with `prefix`; undefined when there is none. */
export function endOfPrefix(prefix: string): string | undefined {
  for (let length = prefix.length; length > 0; length--) {
    const code = prefix.charCodeAt(length - 1);
    if (code < 0xffff) return prefix.slice(0, length - 1) + String.fromCharCode(code + 1);
  }
  return undefined;
}

function liveness(version: Version): number {
  return version.removed ? 0 : 1;
}

function lowerBound(versions: readonly Version[], key: string): number {
  let low = 0;
  let high = versions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (versions[middle].key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
