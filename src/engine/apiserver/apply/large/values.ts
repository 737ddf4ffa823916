import { isHeavy, Steps, type Sliced } from '../../../../kube/json-slices.ts';
import { isJsonObject, setField } from '../../../../kube/json-value.ts';
import type { Json } from '../../../../kube/object.ts';
import { isEmptySet, isMember, type FieldSet } from '../field-set.ts';
import { isEmpty, ListMerge, mergeValues as mergeSmall } from '../merge-values.ts';
import { fieldElement } from '../path-element.ts';
import { nodeFor, removeFields as removeSmall } from '../remove-fields.ts';
import { sideOf, type ListType, type MapType, type ValueType } from '../value-type.ts';
import { childrenOf } from './field-sets.ts';

/** What merge-values.ts and remove-fields.ts do, with pauses, for objects of thousands of fields. */
export function* mergeValues(type: ValueType, live: Json, config: Json): Sliced<Json> {
  if (!isHeavy(live) && !isHeavy(config)) return mergeSmall(type, live, config);
  const side = sideOf(type, config ?? live);
  const alike = side === sideOf(type, live ?? config) && !isEmpty(live ?? null) && !isEmpty(config ?? null);
  if (alike && side === 'map' && !type.map!.atomic) return yield* mergeMaps(type.map!, live, config);
  if (alike && side === 'list' && !type.list!.atomic) return yield* mergeLists(type.list!, live, config);
  return mergeSmall(type, live, config);
}

function* mergeMaps(map: MapType, live: Record<string, Json>, config: Record<string, Json>): Sliced<Json> {
  const merged: Record<string, Json> = {};
  const steps = new Steps();
  for (const name in live) {
    if (steps.due(live[name])) yield;
    const type = map.field(name)?.type ?? map.additional;
    const stated = type !== undefined && Object.hasOwn(config, name);
    setField(merged, name, stated ? yield* mergeValues(type, live[name], config[name]) : live[name]);
  }
  for (const name in config) {
    if (steps.due(null)) yield;
    if (!Object.hasOwn(live, name)) setField(merged, name, config[name]);
  }
  return merged;
}

/** The order of the items is found at once, on their names alone; then they are merged one by one. */
function* mergeLists(list: ListType, live: Json[], config: Json[]): Sliced<Json> {
  const merge = new ListMerge(list, live, config);
  yield;
  const merged: Json[] = [];
  const steps = new Steps();
  for (const { live: before, config: stated } of merge.pairs()) {
    if (steps.due(stated)) yield;
    merged.push(yield* mergeValues(list.element, before, stated));
  }
  return merged;
}

/** A value without the fields of a set. */
export function* removeFields(type: ValueType, value: Json, set: FieldSet | undefined): Sliced<Json> {
  if (!isHeavy(value)) return removeSmall(type, value, set);
  if (isEmptySet(set)) return value;
  const side = sideOf(type, value);
  if (side === 'map' && isJsonObject(value) && !type.map!.atomic) return yield* fromMap(type.map!, value, set!);
  if (side === 'list' && Array.isArray(value) && !type.list!.atomic) return yield* fromList(type.list!, value, set!);
  return removeSmall(type, value, set);
}

function* fromMap(map: MapType, value: Record<string, Json>, set: FieldSet): Sliced<Json> {
  const kept: Record<string, Json> = {};
  const steps = new Steps();
  let count = 0;
  for (const name in value) {
    if (steps.due(value[name])) yield;
    const field = map.field(name);
    const node = set[field?.element ?? fieldElement(name)];
    if (isMember(node)) continue;
    const type = field?.type ?? map.additional;
    const whole = node === undefined || type === undefined;
    setField(kept, name, whole ? value[name] : yield* removeFields(type, value[name], yield* childrenOf(node)));
    count++;
  }
  return count > 0 ? kept : null;
}

function* fromList(list: ListType, value: Json[], set: FieldSet): Sliced<Json> {
  const kept: Json[] = [];
  const steps = new Steps();
  for (const item of value) {
    if (steps.due(item)) yield;
    const node = nodeFor(list, item, set);
    if (isMember(node)) continue;
    kept.push(node === undefined ? item : yield* removeFields(list.element, item, yield* childrenOf(node)));
  }
  return kept.length > 0 ? kept : null;
}
