import type { Json } from '../../../../kube/object.ts';

/** Deep equality of two JSON values; the order of keys does not matter. */
export function sameJson(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item: Json, index: number) => sameJson(item, b[index]));
  if (Array.isArray(b)) return false;
  let count = 0;
  for (const key in a) {
    if (!sameJson(a[key], b[key])) return false;
    if (a[key] !== undefined) count += 1;
  }
  for (const key in b) if (b[key] !== undefined) count -= 1;
  return count === 0;
}
