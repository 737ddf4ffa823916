import type { Json } from './object.ts';

/** Copying, comparing and freezing JSON values. `__proto__` is a field like any other here: it is defined, never assigned. */

export function isJsonObject(value: unknown): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The only safe way to write a key that came from outside. */
export function setField(target: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

/** The value of an object's own field; undefined for inherited ones such as `constructor`. */
export function getField(target: Record<string, Json>, key: string): Json {
  return Object.hasOwn(target, key) ? target[key] : undefined;
}

export function deepCopy<T>(value: T): T;
export function deepCopy(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const copy = value.slice();
    for (let i = 0; i < copy.length; i++) if (typeof copy[i] === 'object') copy[i] = deepCopy(copy[i]);
    return copy;
  }
  const copy: Record<string, Json> = {};
  for (const key in value) {
    const field = value[key];
    if (typeof field !== 'object' || field === null) {
      if (key === '__proto__') setField(copy, key, field);
      else copy[key] = field;
    } else setField(copy, key, deepCopy(field));
  }
  return copy;
}

/** Freezes a value and everything in it; stops at what is frozen already, so shared parts cost nothing twice. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  if (Array.isArray(value)) for (const item of value) deepFreeze(item);
  else for (const key in value) deepFreeze(value[key]);
  return value;
}

export function deepEqual(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!deepEqual(a[i], b[i])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  let fields = 0;
  for (const key in a) {
    if (!Object.hasOwn(b, key) || !deepEqual(a[key], b[key])) return false;
    fields++;
  }
  for (const _ in b) fields--;
  return fields === 0;
}

function isNothing(value: Json): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/**
 * Equal in meaning, as Kubernetes compares to decide whether something changed: a field that is missing, null or an empty list
 * is the same. An empty object is not: `emptyDir: {}` and `namespaceSelector: {}` say something.
 */
export function semanticEqual(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return isNothing(a) && isNothing(b);
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b)) return isNothing(a) && isNothing(b);
    if (a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!semanticEqual(a[i], b[i])) return false;
    return true;
  }
  let shared = 0;
  for (const key in a) {
    const [mine, other] = [a[key], b[key]];
    if (mine === other) {
      if (mine !== undefined) shared++;
      continue;
    }
    // Names such as `constructor` find something in every object.
    const has = other !== undefined && Object.hasOwn(b, key);
    if (!semanticEqual(mine, has ? other : undefined)) return false;
    if (has) shared++;
  }
  for (const _ in b) shared--;
  if (shared === 0) return true;
  for (const key in b) if (!Object.hasOwn(a, key) && !isNothing(b[key])) return false;
  return true;
}
