import { deepEqual, isJsonObject } from '../../kube/json-value.ts';
import type { Json } from '../../kube/object.ts';

export interface JsonPatchEntry {
  op: 'add' | 'remove' | 'replace';
  path: string;
  value?: Json;
}

/** A JSON patch (RFC 6902) that makes `next` of `previous`. Lists are replaced as a whole. */
export function jsonPatchDifference(previous: Json, next: Json, path = ''): JsonPatchEntry[] {
  if (!isJsonObject(previous) || !isJsonObject(next)) {
    return deepEqual(previous, next) ? [] : [{ op: 'replace', path, value: next }];
  }
  const patch: JsonPatchEntry[] = [];
  for (const key of Object.keys(previous)) {
    if (next[key] === undefined) patch.push({ op: 'remove', path: `${path}/${escapePointer(key)}` });
  }
  for (const [key, value] of Object.entries(next)) {
    if (value === undefined) continue;
    const field = `${path}/${escapePointer(key)}`;
    if (previous[key] === undefined) patch.push({ op: 'add', path: field, value });
    else patch.push(...jsonPatchDifference(previous[key], value, field));
  }
  return patch;
}

function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
