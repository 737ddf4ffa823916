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
    this.#eachSlice(from, end, (chunk, start, stop) => {
      if (stop - start === chunk.versions.length) total += chunk.live;
      else for (let at = start; at < stop; at++) total += liveness(chunk.versions[at]);
      return true;
    });
    return total;
  }

  /** The newest versions of the keys that exist from `from` up to `end`, in order, at most `limit`. */
  collect(from: string, end: string | undefined, limit: number): Version[] {
    const parts: Version[][] = [];
    let total = 0;
    this.#eachSlice(from, end, (chunk, start, stop) => {
      const { versions, live } = chunk;
      // Without removals in the chunk the references are copied without looking at what they refer to.
      const part = live === versions.length ? versions.slice(start, stop) : versions.slice(start, stop).filter((each) => !each.removed);
      parts.push(part);
      total += part.length;
      return total < limit;
    });
    // Unlike `flat`, `concat` copies whole arrays at once.
    const collected = parts.length === 1 ? parts[0] : ([] as Version[]).concat(...parts);
    if (collected.length > limit) collected.length = limit;
    return collected;
  }

  /** Calls `visit` with the newest version (removals too) of every key from `from` up to `end`, in order, until it returns false. */
  visit(from: string, end: string | undefined, visit: (newest: Version) => boolean): void {
    this.#eachSlice(from, end, ({ versions }, start, stop) => {
      for (let at = start; at < stop; at++) {
        if (!visit(versions[at])) return false;
      }
      return true;
    });
  }

  /** Calls `visit` with every chunk that has keys from `from` up to `end`, and which part of it that is. */
  #eachSlice(from: string, end: string | undefined, visit: (chunk: Chunk, start: number, stop: number) => boolean): void {
    const first = Math.max(0, this.#chunkOf(from));
    const last = end === undefined ? this.#chunks.length - 1 : this.#chunkOf(end);
    for (let i = first; i <= last; i++) {
      const chunk = this.#chunks[i];
      const start = i === first ? lowerBound(chunk.versions, from) : 0;
      const stop = i === last && end !== undefined ? lowerBound(chunk.versions, end) : chunk.versions.length;
      if (start < stop && !visit(chunk, start, stop)) return;
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
