import { compareText } from '../../../../kube/go-text.ts';
import type { Json } from '../../../../kube/object.ts';

/** The same value with the keys of every object in their order of bytes. */
export function sortedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value).sort(compareText);
  return Object.fromEntries(keys.map((key) => [key, sortedKeys(value[key])]));
}
