import { deepCopy, deepEqual, isJsonObject, setField } from './json-value.ts';
import type { Json } from './object.ts';

/**
 * The same as in json-value.ts for values so large that the event loop has to be given back in between: generators that pause after
 * every few hundred values. They walk only through what is large; whatever is small is done at once, by the plain functions.
 */
export type Sliced<T> = Generator<void, T, void>;

/** Values that are worked on between two pauses: some hundred microseconds. */
const STEP = 256;

/** How many values there are in one, itself included; counting ends soon after `most`. */
export function weigh(value: Json, most = STEP): number {
  if (typeof value !== 'object' || value === null) return 1;
  let weight = 1;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && weight <= most; i++) weight += weigh(value[i], most - weight);
  } else {
    for (const key in value) {
      if (weight > most) break;
      weight += weigh(value[key], most - weight);
    }
  }
  return weight;
}

/** Whether a value is to be walked through with pauses. */
export function isHeavy(value: Json): boolean {
  return typeof value === 'object' && value !== null && weigh(value) > STEP;
}

/** Counts the work since the last pause. */
export class Steps {
  #weight = 0;
  /** Whether the value just looked at is heavy. */
  heavy = false;

  /** To be called before a value is worked on: true when it is time to pause first. */
  due(value: Json): boolean {
    const weight = typeof value === 'object' && value !== null ? weigh(value) : 1;
    this.heavy = weight > STEP;
    this.#weight += weight;
    if (this.#weight <= STEP) return false;
    this.#weight = weight;
    return true;
  }
}

export function* copyInSlices(value: Json): Sliced<Json> {
  return isHeavy(value) ? yield* copyHeavy(value) : deepCopy(value);
}

function* copyHeavy(value: Json): Sliced<Json> {
  const steps = new Steps();
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const item of value) {
      if (steps.due(item)) yield;
      items.push(steps.heavy ? yield* copyHeavy(item) : deepCopy(item));
    }
    return items;
  }
  const copy: Record<string, Json> = {};
  for (const key in value) {
    const field = value[key];
    if (steps.due(field)) yield;
    setField(copy, key, steps.heavy ? yield* copyHeavy(field) : deepCopy(field));
  }
  return copy;
}

export function* equalInSlices(a: Json, b: Json): Sliced<boolean> {
  return isHeavy(a) ? yield* equalHeavy(a, b) : deepEqual(a, b);
}

function* equalHeavy(a: Json, b: Json): Sliced<boolean> {
  if (a === b) return true;
  if (typeof b !== 'object' || b === null) return false;
  const steps = new Steps();
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) {
      if (steps.due(a[i])) yield;
      if (!(steps.heavy ? yield* equalHeavy(a[i], b[i]) : deepEqual(a[i], b[i]))) return false;
    }
    return true;
  }
  if (Array.isArray(b)) return false;
  let fields = 0;
  for (const key in a) {
    if (steps.due(a[key])) yield;
    if (!Object.hasOwn(b, key)) return false;
    if (!(steps.heavy ? yield* equalHeavy(a[key], b[key]) : deepEqual(a[key], b[key]))) return false;
    fields++;
  }
  for (const _ in b) fields--;
  return fields === 0;
}

/** How many values there are, as far as `limit`. */
export function* countInSlices(value: Json, limit: number): Sliced<number> {
  return isHeavy(value) ? yield* countHeavy(value, limit) : weigh(value);
}

function* countHeavy(value: Json, limit: number): Sliced<number> {
  const steps = new Steps();
  let count = 1;
  for (const key in value) {
    if (steps.due(value[key])) yield;
    count += steps.heavy ? yield* countHeavy(value[key], limit - count) : weigh(value[key]);
    if (count > limit) return count;
  }
  return count;
}

/** The text that JSON.stringify makes of a JSON value. */
export function* stringifyInSlices(value: Json): Sliced<string> {
  return isHeavy(value) ? yield* heavyText(value) : JSON.stringify(value);
}

function* heavyText(value: Json): Sliced<string> {
  const parts: string[] = [];
  yield* isJsonObject(value) ? fieldTexts(value, parts) : itemTexts(value, parts);
  const text = parts.join(',');
  return Array.isArray(value) ? `[${text}]` : `{${text}}`;
}

/** Fields that are small go together into one call: per field it would cost several times as much. */
function* fieldTexts(value: Record<string, Json>, parts: string[]): Sliced<void> {
  const steps = new Steps();
  let small: Record<string, Json> = {};
  const flush = (): void => {
    const text = JSON.stringify(small).slice(1, -1);
    if (text !== '') parts.push(text);
    small = {};
  };
  for (const key in value) {
    const field = value[key];
    if (steps.due(field)) {
      flush();
      yield;
    }
    if (!steps.heavy) {
      setField(small, key, field);
      continue;
    }
    flush();
    parts.push(`${JSON.stringify(key)}:${yield* heavyText(field)}`);
  }
  flush();
}

function* itemTexts(value: Json[], parts: string[]): Sliced<void> {
  const steps = new Steps();
  let from = 0;
  const flush = (to: number): void => {
    if (to > from) parts.push(JSON.stringify(value.slice(from, to)).slice(1, -1));
    from = to;
  };
  for (let i = 0; i < value.length; i++) {
    if (steps.due(value[i])) {
      flush(i);
      yield;
    }
    if (!steps.heavy) continue;
    flush(i);
    parts.push(yield* heavyText(value[i]));
    from = i + 1;
  }
  flush(value.length);
}
