import { getField } from '../../../kube/json-value.ts';
import type { Json } from '../../../kube/object.ts';
import { internalForm } from './internal-form.ts';
import { sameQuantity } from './quantities.ts';

/** Plain equality of JSON values. A field that is undefined is absent: drafts here set fields back by writing that. */
export function deepEqual(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => deepEqual(item, b[i]));
  }
  if (Array.isArray(b)) return false;
  for (const key in a) if (a[key] !== undefined && !deepEqual(a[key], getField(b, key))) return false;
  for (const key in b) if (b[key] !== undefined && getField(a, key) === undefined) return false;
  return true;
}

/**
 * apiequality.Semantic.DeepEqual of two objects of the Go type `type`: no list equals an empty list, `1000m` equals `1`.
 * Almost every comparison is of equal values and ends in the first line.
 */
export function semanticEqual(type: string, a: Json, b: Json): boolean {
  if (deepEqual(a, b)) return true;
  if (a === undefined || b === undefined) return false;
  return sameForm(internalForm(type, a), internalForm(type, b));
}

/** Keys under which a Go struct holds a map of quantities. */
const QUANTITIES = new Set(['Limits', 'Requests', 'Overhead', 'Capacity', 'Allocatable', 'Hard', 'Used']);
const QUANTITY = new Set(['SizeLimit', 'Divisor']);

/** Whether two internal forms mean the same. */
export function sameForm(a: Json, b: Json, key = '', inQuantities = false): boolean {
  if (a === b) return true;
  if (a === null || b === null) return isEmptyCollection(a) && isEmptyCollection(b);
  if (typeof a === 'string' && typeof b === 'string') return (inQuantities || QUANTITY.has(key)) && sameQuantity(a, b);
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => sameForm(item, b[i]));
  }
  const keys = Object.keys(a);
  const quantities = QUANTITIES.has(key);
  return keys.length === Object.keys(b).length && keys.every((k) => Object.hasOwn(b, k) && sameForm(a[k], b[k], k, quantities));
}

function isEmptyCollection(value: Json): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value as object).length === 0);
}
