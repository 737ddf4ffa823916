import { isHeavy, Steps, type Sliced } from '../../../../kube/json-slices.ts';
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

/** The same with pauses, for objects of thousands of fields. */
export function* withoutNullsInSlices(value: Json): Sliced<Json> {
  if (!isHeavy(value)) return withoutNulls(value);
  const steps = new Steps();
  let copy: Json;
  for (const key in value) {
    const item: Json = value[key];
    if (steps.due(item)) yield;
    const kept: Json = steps.heavy ? yield* withoutNullsInSlices(item) : withoutNulls(item);
    if (kept === item && (item !== null || Array.isArray(value))) continue;
    copy ??= Array.isArray(value) ? [...value] : { ...value };
    if (item === null) delete copy[key];
    else copy[key] = kept;
  }
  return copy ?? value;
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
