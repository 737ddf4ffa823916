import { isJsonObject, setField } from '../../../kube/json-value.ts';
import type { Json } from '../../../kube/object.ts';
import { childrenOf, isEmptySet, isMember, type FieldSet } from './field-set.ts';
import { elementOrNone } from './list-items.ts';
import { fieldElement } from './path-element.ts';
import { sideOf, type ListType, type MapType, type ValueType } from './value-type.ts';

/**
 * A value without the fields of a set. What loses all that was in it becomes null, not absent: others may own the empty shell, and
 * decoding drops nulls later. Parts that lose nothing are shared with the original.
 */
export function removeFields(type: ValueType, value: Json, set: FieldSet | undefined): Json {
  if (isEmptySet(set)) return value;
  switch (sideOf(type, value)) {
    case 'map':
      return isJsonObject(value) ? fromMap(type.map!, value, set!) : null;
    case 'list':
      return Array.isArray(value) ? fromList(type.list!, value, set!) : null;
    case 'scalar':
    default:
      return value;
  }
}

function fromMap(map: MapType, value: Record<string, Json>, set: FieldSet): Json {
  if (map.atomic) return null;
  const kept: Record<string, Json> = {};
  for (const name in value) {
    const field = map.field(name);
    const node = set[field?.element ?? fieldElement(name)];
    if (isMember(node)) continue;
    const type = field?.type ?? map.additional;
    setField(kept, name, node === undefined || type === undefined ? value[name] : removeFields(type, value[name], childrenOf(node)));
  }
  return Object.keys(kept).length > 0 ? kept : null;
}

function fromList(list: ListType, value: Json[], set: FieldSet): Json {
  if (list.atomic) return null;
  const kept: Json[] = [];
  for (const item of value) {
    const node = nodeFor(list, item, set);
    if (isMember(node)) continue;
    kept.push(node === undefined ? item : removeFields(list.element, item, childrenOf(node)));
  }
  return kept.length > 0 ? kept : null;
}

export function nodeFor(list: ListType, item: Json, set: FieldSet): FieldSet | undefined {
  const element = elementOrNone(list, item);
  return element === undefined ? undefined : set[element];
}
