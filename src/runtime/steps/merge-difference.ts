import { deepEqual, isJsonObject } from '../../kube/json-value.ts';
import type { Json } from '../../kube/object.ts';

/** The JSON merge patch that makes `next` of `previous`, or undefined when they are the same. Lists are replaced as a whole. */
export function mergeDifference(previous: Json, next: Json): Json {
  if (!isJsonObject(previous) || !isJsonObject(next)) return deepEqual(previous ?? null, next ?? null) ? undefined : (next ?? null);
  const patch: Record<string, Json> = {};
  let changed = false;
  for (const key of new Set([...Object.keys(previous), ...Object.keys(next)])) {
    const difference = mergeDifference(previous[key], next[key]);
    if (difference === undefined) continue;
    patch[key] = difference;
    changed = true;
  }
  return changed ? patch : undefined;
}
