import type { Json } from '../../../../kube/object.ts';

/**
 * The object without the nulls that Go prints for times, lists and pointers that are not set: to validation they are absent.
 * Copies only what leads to a null; an object without any is returned as it is.
 */
export function withoutNulls<T>(value: T): T;
export function withoutNulls(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? itemsWithoutNulls(value) : fieldsWithoutNulls(value);
}

function itemsWithoutNulls(items: Json[]): Json[] {
  let copy: Json[] | undefined;
  for (let i = 0; i < items.length; i += 1) {
    const item: Json = withoutNulls(items[i]);
    if (item !== items[i]) (copy ??= [...items])[i] = item;
  }
  return copy ?? items;
}

function fieldsWithoutNulls(object: Record<string, Json>): Record<string, Json> {
  let copy: Record<string, Json> | undefined;
  for (const key in object) {
    const value: Json = object[key];
    if (value === null) {
      copy ??= { ...object };
      delete copy[key];
    } else if (typeof value === 'object') {
      const kept: Json = withoutNulls(value);
      if (kept !== value) (copy ??= { ...object })[key] = kept;
    }
  }
  return copy ?? object;
}
