import { isJsonObject } from '../../../kube/json-value.ts';
import type { Json } from '../../../kube/object.ts';
import type { Ignored } from './field-difference.ts';
import { childrenOf, inOrder, isMember, LEAF, nodeOf, type FieldSet } from './field-set.ts';
import { itemsByElement } from './list-items.ts';
import { fieldElement } from './path-element.ts';
import { sideOf, type ListType, type MapType, type ValueType } from './value-type.ts';

type Level = Record<string, FieldSet>;

/**
 * The fields that an applied configuration states, and so owns. Objects with declared fields are owned through their fields; keys
 * of maps and items of lists are owned themselves too.
 */
export function statedFields(type: ValueType, config: Json, ignored?: Ignored): FieldSet | undefined {
  const level = type.map && isJsonObject(config) ? fieldsOf(type.map, config, ignored) : undefined;
  return level && inOrder(level);
}

function below(type: ValueType, value: Json, ignored: Ignored | undefined): { self: boolean; level?: Level } {
  switch (sideOf(type, value)) {
    case 'scalar':
      return { self: true };
    case 'map':
      if (type.map!.atomic) return { self: true };
      return { self: false, level: isJsonObject(value) ? fieldsOf(type.map!, value, ignored) : undefined };
    case 'list':
    default:
      if (type.list!.atomic) return { self: true };
      return { self: false, level: Array.isArray(value) ? itemsOf(type, value) : undefined };
  }
}

function fieldsOf(map: MapType, value: Record<string, Json>, ignored: Ignored | undefined): Level | undefined {
  let result: Level | undefined;
  for (const name in value) {
    const node = statedField(map, name, value[name], ignored?.[name]);
    if (node !== undefined) (result ??= {})[map.field(name)?.element ?? fieldElement(name)] = node;
  }
  return result;
}

/** A field and what is stated in it; undefined when nobody can own it. */
export function statedField(map: MapType, name: string, item: Json, skip: Ignored[string] | undefined): FieldSet | undefined {
  if (skip === true) return undefined;
  const declared = map.field(name);
  const type = declared?.type ?? map.additional;
  if (type === undefined) return undefined;
  const { self, level } = below(type, item, skip);
  const isNullOrEmpty = item === null || (isJsonObject(item) && Object.keys(item).length === 0);
  return nodeOf(self || ((isNullOrEmpty || declared === undefined) && skip === undefined), level && inOrder(level));
}

function itemsOf({ list }: ValueType, value: Json[]): Level | undefined {
  let result: Level | undefined;
  for (const [element, items] of itemsByElement(list!, value)) {
    result ??= {};
    result[element] = items.length > 1 ? LEAF : statedItem(list!, items[0]);
  }
  return result;
}

/** An item of a list and what is stated in it. */
export function statedItem(list: ListType, item: Json): FieldSet {
  const { level } = below(list.element, item, undefined);
  return nodeOf(true, level && inOrder(level))!;
}

/**
 * Adds to a set every declared field that has something below it. Such objects are not owned themselves, but when all that is below
 * one goes, it has to go too.
 */
export function withNamedFields(set: FieldSet | undefined, type: ValueType | undefined): FieldSet | undefined {
  if (set === undefined) return undefined;
  const result: Level = {};
  for (const element in set) {
    if (element === '.') continue;
    const node = set[element];
    result[element] = namedNode(element, node, type);
  }
  return result;
}

export function namedNode(element: string, node: FieldSet, type: ValueType | undefined): FieldSet {
  const children = childrenOf(node);
  const { inner, declared } = typeBelow(type, element);
  const member = isMember(node) || (declared && children !== undefined);
  return nodeOf(member, withNamedFields(children, inner))!;
}

export function typeBelow(type: ValueType | undefined, element: string): { inner?: ValueType; declared: boolean } {
  if (element.startsWith('f:') && type?.map) {
    const field = type.map.field(element.slice(2));
    return { inner: field?.type ?? type.map.additional, declared: field !== undefined };
  }
  return { inner: element.startsWith('k:') ? type?.list?.element : undefined, declared: false };
}
