import { isJsonObject, setField } from './json-value.ts';
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

function mergeInto(draft: Record<string, Json>, patch: Record<string, Json>): void {
  for (const key in patch) {
    const change = patch[key];
    if (change === null) delete draft[key];
    else {
      const current = Object.hasOwn(draft, key) ? draft[key] : undefined;
      if (isJsonObject(current) && isJsonObject(change)) mergeInto(current, change);
      else setField(draft, key, withoutNulls(change));
    }
  }
}

/**
 * Applies an RFC 7396 merge patch to a private copy of an object. The patch is left as it was and shares nothing with the result.
 * @throws StatusError BadRequest when the patch is not an object
 */
export function applyMergePatch(draft: Record<string, Json>, patch: Json): Record<string, Json> {
  if (!isJsonObject(patch)) throw badRequestError('Invalid JSON Patch');
  mergeInto(draft, patch);
  return draft;
}
