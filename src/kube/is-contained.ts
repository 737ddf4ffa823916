import { isJsonObject } from './json-value.ts';
import type { Json } from './object.ts';

/** Everything wanted is there; what the server or others added does not matter, except in lists and in maps of amounts. */
export function isContained(wanted: Json, existing: Json, field = ''): boolean {
  if (wanted === undefined) return true;
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(existing) && wanted.length === existing.length && wanted.every((item, index) => isContained(item, existing[index]))
    );
  }
  if (!isJsonObject(wanted)) return wanted === existing;
  if (!isJsonObject(existing)) return false;
  if (EXACT.has(field) && Object.keys(existing).length !== Object.keys(wanted).length) return false;
  return Object.entries(wanted).every(([key, value]) => isContained(value, existing[key], key));
}

/** Maps of which nothing may be left over: amounts, data, and labels that select. */
const EXACT = new Set(['hard', 'max', 'data', 'matchLabels', 'podSelector']);
