import type { FieldError } from '../../../kube/field-error.ts';
import { isJsonObject } from '../../../kube/json-value.ts';
import type { Json } from '../../../kube/object.ts';
import { child, duplicateValue, index, invalidValue, key, MOST_FINDINGS } from './findings.ts';
import { goJson } from './go-print.ts';
import type { SchemaNode } from './schema-node.ts';
import type { Pace, Sliced } from './slices.ts';

/**
 * Checks that lists declared as sets hold no item twice, and that those declared as maps hold no key twice. @param except fields of an object
 * that need not be looked at again in this one
 */
export function* checkListTypes(
  node: SchemaNode,
  value: Record<string, Json>,
  pace: Pace,
  except?: Record<string, Json>,
): Sliced<FieldError[]> {
  const found: FieldError[] = [];
  yield* visitObject(node, except === undefined ? value : withoutShared(value, except), '', pace, found);
  return found;
}

function withoutShared(value: Record<string, Json>, other: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(Object.entries(value).filter(([name, item]) => !Object.hasOwn(other, name) || other[name] !== item));
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
  if (node.listType === 'set') yield* checkSet(value, path, pace, found);
  else if (node.listType === 'map') yield* checkMap(node, value, path, pace, found);
  const items = node.items;
  if (items === undefined) return;
  for (let at = 0; at < value.length; at++) {
    if (typeof value[at] === 'object' && value[at] !== null) yield* visit(items, value[at], index(path, at), pace, found);
  }
}

function* checkSet(items: readonly Json[], path: string, pace: Pace, found: FieldError[]): Sliced<void> {
  for (const at of yield* repeated(items.length, (position) => identity(items[position]), pace)) {
    found.push(duplicateValue(index(path, at), items[at]));
  }
}

function* checkMap(node: SchemaNode, items: readonly Json[], path: string, pace: Pace, found: FieldError[]): Sliced<void> {
  const stranger = items.findIndex((item) => item !== null && !isJsonObject(item));
  if (stranger >= 0) {
    found.push(invalidValue(index(path, stranger), items[stranger], 'must be an object for an array of list-type map'));
    return;
  }
  const names = node.schema['x-kubernetes-list-map-keys'] ?? [];
  for (const at of yield* repeated(items.length, (position) => keyIdentity(items[position], names), pace)) {
    found.push(duplicateValue(index(path, at), pick(items[at], names)));
  }
}

const STEPS_PER_ITEM = 4;

/** Positions of the second appearance of each item, as many as are ever reported. */
function* repeated(count: number, identityAt: (position: number) => unknown, pace: Pace): Sliced<number[]> {
  const again: number[] = [];
  if (count <= 1) return again;
  const seen = new Map<unknown, number>();
  for (let at = 0; at < count && again.length < MOST_FINDINGS; at++) {
    if (pace.tick(STEPS_PER_ITEM)) yield;
    const item = identityAt(at);
    const times = seen.get(item) ?? 0;
    seen.set(item, times + 1);
    if (times === 1) again.push(at);
  }
  return again;
}

/** What makes an item equal to another. */
function identity(item: Json): unknown {
  return typeof item === 'object' && item !== null ? `\u0000${goJson(item)}` : item;
}

/** What makes the keys of an item equal to those of another. A single scalar key, which most lists have, is its own identity. */
function keyIdentity(item: Json, names: readonly string[]): unknown {
  if (names.length === 1 && item !== null && Object.hasOwn(item, names[0])) {
    const only: Json = item[names[0]];
    if (typeof only !== 'object') return only;
  }
  return identity(pick(item, names));
}

function pick(item: Json, names: readonly string[]): Record<string, Json> {
  const picked: Record<string, Json> = {};
  if (item === null) return picked;
  for (const name of names) if (Object.hasOwn(item, name)) picked[name] = item[name];
  return picked;
}
