import { copyInSlices, isHeavy, Steps, type Sliced } from './json-slices.ts';
import { deepCopy, isJsonObject, setField } from './json-value.ts';
import type { Json } from './object.ts';
import { badRequestError } from './status.ts';

/** A private copy of a patch's value, with the nulls that only said "remove" gone. Lists keep theirs. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item));
  if (!isJsonObject(value)) return value;
  const kept: Record<string, Json> = {};
  for (const key in value) if (value[key] !== null) setField(kept, key, withoutNulls(value[key]));
  return kept;
}

/** A private copy of `current` with the patch's fields merged in. */
function merged(current: Record<string, Json>, patch: Record<string, Json>): Record<string, Json> {
  const result: Record<string, Json> = {};
  for (const key in current) {
    if (!Object.hasOwn(patch, key)) setField(result, key, deepCopy(current[key]));
    else if (patch[key] !== null) setField(result, key, mergedField(current[key], patch[key]));
  }
  for (const key in patch) {
    if (patch[key] !== null && !Object.hasOwn(current, key)) setField(result, key, withoutNulls(patch[key]));
  }
  return result;
}

function mergedField(current: Json, change: Json): Json {
  return isJsonObject(current) && isJsonObject(change) ? merged(current, change) : withoutNulls(change);
}

/** `merged` with pauses, walking only through what is large. */
function* mergedInSlices(current: Record<string, Json>, patch: Record<string, Json>): Sliced<Record<string, Json>> {
  const result: Record<string, Json> = {};
  const steps = new Steps();
  for (const key in current) {
    const change = Object.hasOwn(patch, key) ? patch[key] : undefined;
    if (steps.due(current[key])) yield;
    if (change === null) continue;
    if (change === undefined) setField(result, key, steps.heavy ? yield* copyInSlices(current[key]) : deepCopy(current[key]));
    else if (isJsonObject(current[key]) && isJsonObject(change) && (steps.heavy || isHeavy(change)))
      setField(result, key, yield* mergedInSlices(current[key], change));
    else setField(result, key, mergedField(current[key], change));
  }
  for (const key in patch) {
    if (steps.due(patch[key])) yield;
    if (patch[key] !== null && !Object.hasOwn(current, key)) setField(result, key, withoutNulls(patch[key]));
  }
  return result;
}

/** `applyMergePatch` with pauses, for large objects and patches. */
export function* mergePatchSteps(object: Record<string, Json>, patch: Json): Sliced<Record<string, Json>> {
  if (!isJsonObject(patch)) throw badRequestError('Invalid JSON Patch');
  return yield* mergedInSlices(object, patch);
}

/**
 * Applies an RFC 7396 merge patch. Neither the object nor the patch is changed, and the result shares nothing with them.
 * @throws StatusError BadRequest when the patch is not an object
 */
export function applyMergePatch(object: Record<string, Json>, patch: Json): Record<string, Json> {
  if (!isJsonObject(patch)) throw badRequestError('Invalid JSON Patch');
  return merged(object, patch);
}
