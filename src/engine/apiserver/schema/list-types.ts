import type { FieldError } from '../../../kube/field-error.ts';
import { isJsonObject } from '../../../kube/json-value.ts';
import type { Json } from '../../../kube/object.ts';
import { child, duplicateValue, index, invalidValue, key } from './findings.ts';
import { goJson } from './go-print.ts';
import type { SchemaNode } from './schema-node.ts';
import type { Pace, Sliced } from './slices.ts';

/** Checks that lists declared as sets hold no item twice, and that those declared as maps hold no key twice. */
export function* checkListTypes(node: SchemaNode, value: Record<string, Json>, pace: Pace, path = ''): Sliced<FieldError[]> {
  const found: FieldError[] = [];
  yield* visitObject(node, value, path, pace, found);
  return found;
}

function* visitObject(node: SchemaNode, value: Record<string, Json>, path: string, pace: Pace, found: FieldError[]): Sliced<void> {
  const additional = node.additional;
  for (const name of Object.keys(value)) {
    const item = value[name];
    if (typeof item !== 'object' || item === null) continue;
    if (additional !== undefined) yield* visit(additional, item, key(path, name), pace, found);
    const property = node.property(name);
    if (property !== undefined) yield* visit(property, item, child(path, name), pace, found);
  }
}

function* visit(node: SchemaNode, value: Json, path: string, pace: Pace, found: FieldError[]): Sliced<void> {
  if (pace.tick()) yield;
  if (isJsonObject(value)) {
    yield* visitObject(node, value, path, pace, found);
    return;
  }
  if (!Array.isArray(value)) return;
  if (pace.tick(value.length)) yield;
  if (node.listType === 'set') found.push(...duplicateItems(value).map((at) => duplicateValue(index(path, at), value[at])));
  else if (node.listType === 'map') found.push(...duplicateKeys(node, value, path));
  const items = node.items;
  if (items === undefined) return;
  for (let at = 0; at < value.length; at++) {
    if (typeof value[at] === 'object' && value[at] !== null) yield* visit(items, value[at], index(path, at), pace, found);
  }
}

/** Positions of the second appearance of each item. */
function duplicateItems(items: readonly unknown[]): number[] {
  if (items.length <= 1) return [];
  const seen = new Map<unknown, number>();
  const again: number[] = [];
  for (const [at, item] of items.entries()) {
    const identity = typeof item === 'object' && item !== null ? `\u0000${goJson(item)}` : item;
    const times = seen.get(identity) ?? 0;
    seen.set(identity, times + 1);
    if (times === 1) again.push(at);
  }
  return again;
}

function duplicateKeys(node: SchemaNode, items: Json[], path: string): FieldError[] {
  const stranger = items.findIndex((item) => item !== null && !isJsonObject(item));
  if (stranger >= 0) return [invalidValue(index(path, stranger), items[stranger], 'must be an object for an array of list-type map')];
  const names = node.schema['x-kubernetes-list-map-keys'] ?? [];
  const keys = items.map((item) => pick(item, names));
  return duplicateItems(keys).map((at) => duplicateValue(index(path, at), keys[at]));
}

function pick(item: Json, names: readonly string[]): Record<string, Json> {
  const picked: Record<string, Json> = {};
  if (item === null) return picked;
  for (const name of names) if (Object.hasOwn(item, name)) picked[name] = item[name];
  return picked;
}
