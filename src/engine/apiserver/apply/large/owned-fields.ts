import { isHeavy, Steps, type Sliced } from '../../../../kube/json-slices.ts';
import { isJsonObject } from '../../../../kube/json-value.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Ignored, Level } from '../field-difference.ts';
import { isMember, LEAF, type FieldSet } from '../field-set.ts';
import {
  namedNode,
  statedField,
  statedFields as statedSmall,
  statedItem,
  typeBelow,
  withNamedFields as withNamedFieldsSmall,
} from '../owned-fields.ts';
import { fieldElement } from '../path-element.ts';
import { sideOf, type ListType, type MapType, type ValueType } from '../value-type.ts';
import { itemsByElement } from './differences.ts';
import { childrenOf, inOrder, nodeOf } from './field-sets.ts';

/** What owned-fields.ts does, with pauses, for configurations of thousands of fields. */
export function* statedFields(type: ValueType, config: Json, ignored?: Ignored): Sliced<FieldSet | undefined> {
  if (!isHeavy(config)) return statedSmall(type, config, ignored);
  const level = type.map && isJsonObject(config) ? yield* fieldsOf(type.map, config, ignored) : undefined;
  return level && (yield* inOrder(level));
}

function* below(type: ValueType, value: Json, ignored: Ignored | undefined): Sliced<{ self: boolean; level?: Level }> {
  switch (sideOf(type, value)) {
    case 'scalar':
      return { self: true };
    case 'map':
      if (type.map!.atomic) return { self: true };
      return { self: false, level: isJsonObject(value) ? yield* fieldsOf(type.map!, value, ignored) : undefined };
    case 'list':
    default:
      if (type.list!.atomic) return { self: true };
      return { self: false, level: Array.isArray(value) ? yield* itemsOf(type.list!, value) : undefined };
  }
}

function* fieldsOf(map: MapType, value: Record<string, Json>, ignored: Ignored | undefined): Sliced<Level | undefined> {
  const result: Level = {};
  const steps = new Steps();
  let found = false;
  for (const name in value) {
    if (steps.due(value[name])) yield;
    const skip = ignored?.[name];
    const node = steps.heavy ? yield* largeField(map, name, value[name], skip) : statedField(map, name, value[name], skip);
    if (node === undefined) continue;
    result[map.field(name)?.element ?? fieldElement(name)] = node;
    found = true;
  }
  return found ? result : undefined;
}

function* largeField(map: MapType, name: string, value: Json, skip: Ignored[string] | undefined): Sliced<FieldSet | undefined> {
  const declared = map.field(name);
  const type = declared?.type ?? map.additional;
  if (skip === true || type === undefined) return undefined;
  const { self, level } = yield* below(type, value, skip);
  return yield* nodeOf(self || (declared === undefined && skip === undefined), level && (yield* inOrder(level)));
}

function* itemsOf(list: ListType, value: Json[]): Sliced<Level | undefined> {
  let result: Level | undefined;
  const steps = new Steps();
  for (const [element, items] of yield* itemsByElement(list, value)) {
    if (steps.due(items)) yield;
    result ??= {};
    if (!steps.heavy || items.length > 1) result[element] = items.length > 1 ? LEAF : statedItem(list, items[0]);
    else {
      const { level } = yield* below(list.element, items[0], undefined);
      result[element] = (yield* nodeOf(true, level && (yield* inOrder(level))))!;
    }
  }
  return result;
}

export function* withNamedFields(set: FieldSet | undefined, type: ValueType | undefined): Sliced<FieldSet | undefined> {
  if (!isHeavy(set)) return withNamedFieldsSmall(set, type);
  const result: Level = {};
  const steps = new Steps();
  for (const element in set) {
    if (element === '.') continue;
    const node = set[element];
    if (steps.due(node)) yield;
    if (!steps.heavy) {
      result[element] = namedNode(element, node, type);
      continue;
    }
    const children = yield* childrenOf(node);
    const { inner, declared } = typeBelow(type, element);
    const member = isMember(node) || (declared && children !== undefined);
    result[element] = (yield* nodeOf(member, yield* withNamedFields(children, inner)))!;
  }
  return result;
}
