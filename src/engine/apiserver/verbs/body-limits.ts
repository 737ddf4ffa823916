import { badRequestError, failure } from '../../../kube/status.ts';
import { turns } from '../../../lib/turn-queue.ts';

const MAX_DEPTH = 1000;
/** Below this not even the densest text holds enough values to be noticed; above it a write gets a turn of its own. */
export const UNMEASURED_BYTES = 16 * 1024;
const SLICE_BYTES = 128 * 1024;
/** Escape sequences cost a fraction of a value each. */
const ESCAPES_PER_VALUE = 8;
/** From here on a write gives way to others between its steps. */
export const NOTICEABLE_VALUES = 1000;
export const NOTICEABLE_BYTES = 64 * 1024;

/** Lets everybody else have a turn. */
export function breathe(): Promise<void> {
  return turns.pause();
}

/** The same on the way of a promise. */
export async function afterBreath<T>(value: T): Promise<T> {
  await breathe();
  return value;
}

/** Walks JSON text without building anything, as far as needed to know what it would cost. Good and bad text are the same to it. */
class JsonMeasure {
  values = 0;
  #escapes = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;

  take(bytes: Uint8Array, from: number, to: number, limit: number): void {
    let { values } = this;
    let depth = this.#depth;
    let inString = this.#inString;
    for (let i = from; i < to; i++) {
      const byte = bytes[i];
      if (inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === 0x22) inString = false;
        else if (byte === 0x5c) {
          this.#escaped = true;
          if (++this.#escapes % ESCAPES_PER_VALUE === 0) values++;
        }
      } else if (byte === 0x22) inString = true;
      else if (byte === 0x2c) values++;
      else if (byte === 0x7b || byte === 0x5b) {
        values++;
        if (++depth > MAX_DEPTH) throw tooDeep(byte);
      } else if (byte === 0x7d || byte === 0x5d) depth--;
      if (values > limit) throw tooManyValues(limit);
    }
    this.values = values;
    this.#depth = depth;
    this.#inString = inString;
  }
}

function tooDeep(byte: number): Error {
  return badRequestError(
    `couldn't get version/kind; json parse error: invalid character '${String.fromCharCode(byte)}' exceeded max depth`,
  );
}

export function tooManyValues(limit: number): Error {
  return failure(
    'RequestEntityTooLarge',
    `Request entity too large: more than ${limit} values (fields and list items) in one object; split it into several`,
    {},
  );
}

/** Refuses JSON that nests too deeply or holds too many values, before it is parsed. Answers whether the rest has to work in slices. */
export async function measureJson(bytes: Uint8Array, limit: number): Promise<boolean> {
  const size = bytes.byteLength;
  const measure = new JsonMeasure();
  for (let from = 0; from < size; from += SLICE_BYTES) {
    await breathe();
    measure.take(bytes, from, Math.min(size, from + SLICE_BYTES), limit);
  }
  return measure.values > NOTICEABLE_VALUES || size > NOTICEABLE_BYTES;
}

/** The same at once, for JSON inside another message. @throws StatusError */
export function refuseCostlyJson(bytes: Uint8Array, limit: number): void {
  if (bytes.byteLength > UNMEASURED_BYTES) new JsonMeasure().take(bytes, 0, bytes.byteLength, limit);
}

/** Whether a value that did not come as JSON is so large that the rest has to work in slices. @throws StatusError */
export function measureValue(value: unknown, bytes: number, limit: number): boolean {
  const values = bytes > UNMEASURED_BYTES ? countValues(value, limit) : 0;
  if (values > limit) throw tooManyValues(limit);
  return values > NOTICEABLE_VALUES || bytes > NOTICEABLE_BYTES;
}

/** How many values there are below one, as far as `limit`: patches can make an object grow beyond what any single body may hold. */
export function countValues(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && count <= limit; i++) count += countValues(value[i], limit - count);
  } else {
    for (const key in value) {
      if (count > limit) break;
      count += countValues((value as Record<string, unknown>)[key], limit - count);
    }
  }
  return count;
}
