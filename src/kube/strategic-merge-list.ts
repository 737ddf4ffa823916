import { printAny } from './go-text.ts';
import { isJsonObject } from './json-value.ts';
import type { Json } from './object.ts';
import { failure, type StatusError } from './status.ts';
import type { Schema } from './schema.ts';

/** Merging of lists for strategic merge patches: items by their merge key, scalars as a set, and the order of the outcome. */

export const DIRECTIVE = '$patch';

/** How a field is merged, and the schema of what is in it (the items, for a list). */
export interface FieldMerge {
  strategy: string;
  mergeKey: string;
  schema: Schema;
}

export type MergeObjects = (draft: Record<string, Json>, patch: Record<string, Json>, schema: Schema) => Record<string, Json>;

/** Errors that upstream does not classify are answered with 500 and no reason, and so are ours. */
export function unclassified(message: string): StatusError {
  return failure('', message);
}

export function goType(value: Json): string {
  if (value === null || value === undefined) return '%!s(<nil>)';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : Number.isInteger(value) ? 'int64' : 'float64';
}

export function badPatchType(directive: Json, patch: Json): StatusError {
  return unclassified(`unknown patch type: ${printAny(directive)} in map: ${printAny(patch)}`);
}

function noMergeKey(item: Json, mergeKey: string): StatusError {
  return unclassified(`map: ${printAny(item)} does not contain declared merge key: ${mergeKey}`);
}

/** Whether the items are objects. @throws StatusError when they are of mixed kinds, or lists */
function holdObjects(...lists: Json[][]): boolean {
  const kinds = new Set(
    lists
      .flat()
      .map(goType)
      .map((kind) => (kind === 'float64' ? 'int64' : kind)),
  );
  if (kinds.has('[]interface {}')) {
    throw failure('Invalid', 'the server rejected our request due to an error in our request', {});
  }
  if (kinds.size > 1) throw unclassified(`list element types are not identical: ${printAny(lists)}`);
  if (kinds.size === 0) throw unclassified('no elements in any of the given slices');
  return kinds.has('map[string]interface {}');
}

function keyOf(item: Json, mergeKey: string): Json {
  if (!isJsonObject(item)) throw unclassified(`expected a map[string]interface {}, but received a ${goType(item)}`);
  if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
  return item[mergeKey];
}

/** Where each key stands first. */
function placesByKey(items: Json[], mergeKey: string): Map<Json, number> {
  const places = new Map<Json, number>();
  items.forEach((item, index) => {
    if (!isJsonObject(item)) throw unclassified(`value for key ${index} is not a map`);
    if (Object.hasOwn(item, mergeKey) && !places.has(item[mergeKey])) places.set(item[mergeKey], index);
  });
  return places;
}

function mergeByKey(current: Json[], change: Json[], field: FieldMerge, mergeObjects: MergeObjects): { base: Json[]; applied: Json[] } {
  const { mergeKey } = field;
  const plain: Json[] = [];
  const deleted = new Set<Json>();
  let replace = false;
  for (const item of change) {
    if (!Object.hasOwn(item, DIRECTIVE)) plain.push(item);
    else if (item[DIRECTIVE] === 'delete') {
      if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
      deleted.add(item[mergeKey]);
    } else if (item[DIRECTIVE] === 'replace') replace = true;
    else if (item[DIRECTIVE] === 'merge') throw unclassified('merging lists cannot yet be specified in the patch');
    else throw badPatchType(item[DIRECTIVE], item);
  }
  const base = current.filter((candidate, index) => {
    if (!isJsonObject(candidate)) throw unclassified(`value for key ${index} is not a map`);
    return !Object.hasOwn(candidate, mergeKey) || !deleted.has(candidate[mergeKey]);
  });
  return replace ? { base: plain, applied: [] } : { base: mergePlainItems(base, plain, field, mergeObjects), applied: plain };
}

function mergePlainItems(base: Json[], items: Json[], { mergeKey, schema }: FieldMerge, mergeObjects: MergeObjects): Json[] {
  const places = placesByKey(base, mergeKey);
  for (const item of items) {
    if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
    const key: Json = item[mergeKey];
    const index = places.get(key);
    if (index !== undefined) base[index] = mergeObjects(base[index], item, schema);
    else places.set(key, base.push(item) - 1);
  }
  return base;
}

/** Items that the patch names come in the patch's order; the others keep theirs, in front where the server had them in front. */
function arrange(merged: Json[], patchOrder: Json[], serverOrder: Json[], mergeKey: string): Json[] {
  const identify = (item: Json): Json => (mergeKey === '' ? item : keyOf(item, mergeKey));
  const patchPosition = positions(patchOrder.map(identify));
  const serverPosition = positions(serverOrder.map((item) => (mergeKey === '' ? item : isJsonObject(item) ? item[mergeKey] : undefined)));
  const sorted = (items: Json[], position: Map<Json, number>): Json[] =>
    items.sort((a, b) => (position.get(identify(a)) ?? 0) - (position.get(identify(b)) ?? 0));
  const named = sorted(
    merged.filter((item) => patchPosition.has(identify(item))),
    patchPosition,
  );
  const others = sorted(
    merged.filter((item) => !patchPosition.has(identify(item))),
    serverPosition,
  );
  const result: Json[] = [];
  let i = 0;
  for (const item of named) {
    const place = serverPosition.get(identify(item)) ?? -1;
    for (; i < others.length && (serverPosition.get(identify(others[i])) ?? Infinity) < place; i++) result.push(others[i]);
    result.push(item);
  }
  return [...result, ...others.slice(i)];
}

function positions(keys: Json[]): Map<Json, number> {
  const map = new Map<Json, number>();
  keys.forEach((key, index) => {
    if (!map.has(key)) map.set(key, index);
  });
  return map;
}

export function mergeList(current: Json[], change: Json[], field: FieldMerge, mergeObjects: MergeObjects): Json[] {
  return mergeAndArrange(current, change, field, mergeObjects).merged;
}

/** `unordered` is the merged list before it was arranged: what was there, less what was deleted, then what is new. */
function mergeAndArrange(
  current: Json[],
  change: Json[],
  field: FieldMerge,
  mergeObjects: MergeObjects,
): { merged: Json[]; unordered: Json[] } {
  if (current.length === 0 && change.length === 0) return { merged: current, unordered: current };
  if (!holdObjects(current, change)) {
    return { merged: arrange([...new Set([...current, ...change])], change, current, ''), unordered: current };
  }
  if (field.mergeKey === '') throw unclassified(`cannot merge lists without merge key for ${field.schema.type ?? 'struct'}`);
  const { base, applied } = mergeByKey(current, change, field, mergeObjects);
  return { merged: arrange([...base], applied, applied.length === 0 ? base : current, field.mergeKey), unordered: base };
}

/** A patch's list must follow the order it declares. */
function checkDeclaredOrder(items: Json[], order: Json[], mergeKey: string): void {
  if (items.length === 0 || order.length === 0) return;
  const plain = mergeKey === '' ? items : items.filter((item) => !(isJsonObject(item) && Object.hasOwn(item, DIRECTIVE)));
  let at = 0;
  for (const place of order) {
    if (at >= plain.length) return;
    const equal = mergeKey === '' ? plain[at] === place : keyOf(plain[at], mergeKey) === keyOf(place, mergeKey);
    if (equal) at++;
  }
  if (at >= plain.length) return;
  throw unclassified(`The order in patch list:\n${printAny(items)}\n doesn't match $setElementOrder list:\n${printAny(order)}\n`);
}

/** Merges a list and gives it the order of `$setElementOrder`; undefined when there is no list on either side. */
export function orderByDirective(
  current: Json[] | undefined,
  change: { items: Json[]; kept(): Json[] } | undefined,
  order: Json[],
  field: FieldMerge,
  mergeObjects: MergeObjects,
): Json[] | undefined {
  checkDeclaredOrder(change?.items ?? [], order, field.mergeKey);
  if (!current && !change) return undefined;
  holdObjects(current ?? [], change?.items ?? []);
  if (!change) return arrange([...current!], order, current!, field.mergeKey);
  if (!current) return arrange([...change.kept()], order, [], field.mergeKey);
  if (field.strategy !== 'merge') return arrange([...change.items], order, current, field.mergeKey);
  const { merged, unordered } = mergeAndArrange(current, change.items, field, mergeObjects);
  // New items take the places of deleted ones in the server's order: upstream does so because its list is edited in place.
  return arrange([...merged], order, unordered.slice(0, current.length), field.mergeKey);
}
