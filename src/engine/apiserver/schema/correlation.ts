import type { Json } from '../../../kube/object.ts';
import { deepEqual, isJsonObject } from '../../../kube/json-value.ts';
import type { SchemaNode } from './schema-node.ts';

/**
 * Which old value a new value replaces on an update. Fields correlate by name, items of `map` lists by their keys; items of other
 * lists do not correlate. What is equal to its old value was accepted before, and its findings are let pass (ratcheting).
 */
export const UNCORRELATED = Symbol('uncorrelated');
/** A JSON value, or UNCORRELATED. */
export type OldValue = Json;

/** The old value of a field that both states have and the schema knows. */
export function oldField(node: SchemaNode, value: Record<string, Json>, old: OldValue, name: string): OldValue {
  if (!isJsonObject(old) || !Object.hasOwn(old, name) || !Object.hasOwn(value, name)) return UNCORRELATED;
  return node.forKey(name) === undefined ? UNCORRELATED : old[name];
}

/** Finds the old items of a list by their keys; undefined when the list does not correlate. */
export function oldItems(node: SchemaNode, old: OldValue): ((item: Json) => OldValue) | undefined {
  const keys = node.schema['x-kubernetes-list-map-keys'];
  if (!Array.isArray(old) || node.listType !== 'map' || node.schema.type !== 'array' || !keys?.length) return undefined;
  let byKey: Map<string, Json> | undefined;
  return (item) => {
    if (byKey === undefined) {
      byKey = new Map();
      for (const candidate of old) {
        const name = compositeKey(candidate, keys);
        if (name !== undefined && !byKey.has(name)) byKey.set(name, candidate);
      }
    }
    const name = compositeKey(item, keys);
    return name !== undefined && byKey.has(name) ? byKey.get(name) : UNCORRELATED;
  };
}

function compositeKey(item: Json, keys: readonly string[]): string | undefined {
  if (!isJsonObject(item)) return undefined;
  let text = '';
  for (const name of keys) {
    const value = Object.hasOwn(item, name) ? item[name] : undefined;
    if (value === undefined || value === null || typeof value === 'object') return undefined;
    text += `\u0000${typeof value}:${String(value)}`;
  }
  return text;
}

/** Equality as ratcheting sees it: order does not count in `map` lists, and a field the schema does not know makes a difference. */
export function equalsOld(node: SchemaNode | undefined, value: Json, old: OldValue, known: Map<Json, boolean>): boolean {
  if (old === UNCORRELATED) return false;
  if (value === null || old === null) return value === old;
  if (typeof value !== 'object' || typeof old !== 'object') return value === old;
  if (node === undefined) return deepEqual(value, old);
  const remembered = known.get(value);
  if (remembered !== undefined) return remembered;
  const equal = Array.isArray(value) ? listEqualsOld(node, value, old, known) : objectEqualsOld(node, value, old, known);
  known.set(value, equal);
  return equal;
}

function listEqualsOld(node: SchemaNode, value: Json[], old: Json, known: Map<Json, boolean>): boolean {
  if (!Array.isArray(old) || old.length !== value.length) return false;
  const find = oldItems(node, old);
  if (find === undefined) return deepEqual(value, old);
  return value.every((item) => equalsOld(node.items, item, find(item), known));
}

function objectEqualsOld(node: SchemaNode, value: Record<string, Json>, old: Json, known: Map<Json, boolean>): boolean {
  if (Array.isArray(old)) return false;
  const names = Object.keys(value);
  if (names.length !== Object.keys(old).length) return false;
  return names.every((name) => equalsOld(node.forKey(name), value[name], oldField(node, value, old, name), known));
}
