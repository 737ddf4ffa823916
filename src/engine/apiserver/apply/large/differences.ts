import { equalInSlices, isHeavy, Steps, type Sliced } from '../../../../kube/json-slices.ts';
import { isJsonObject } from '../../../../kube/json-value.ts';
import type { Json } from '../../../../kube/object.ts';
import {
  addTo,
  compareItems,
  compareValues as compareSmall,
  difference as differenceSmall,
  everything as everythingSmall,
  isNothing,
  NO_FIELDS,
  partly as partlySmall,
  type Difference,
  type Ignored,
  type Level,
  type Levels,
} from '../field-difference.ts';
import { LEAF, type FieldSet } from '../field-set.ts';
import { elementOrNone } from '../list-items.ts';
import { fieldElement } from '../path-element.ts';
import { sideOf, type ListType, type MapType, type ValueType } from '../value-type.ts';
import { inOrder, nodeOf } from './field-sets.ts';

/** What field-difference.ts does, with pauses, for objects of thousands of fields. */
export function* difference(type: ValueType, before: Json, after: Json, ignored?: Ignored): Sliced<Difference> {
  if (!isHeavy(before) && !isHeavy(after)) return differenceSmall(type, before, after, ignored);
  const levels: Levels = {};
  if (type.map !== undefined) yield* compareFields(type.map, before ?? NO_FIELDS, after ?? NO_FIELDS, ignored, levels);
  const result: Difference = {};
  if (levels.changed) result.changed = yield* inOrder(levels.changed);
  if (levels.removed) result.removed = yield* inOrder(levels.removed);
  return result;
}

function* compareFields(map: MapType, before: Json, after: Json, ignored: Ignored | undefined, out: Levels): Sliced<void> {
  const steps = new Steps();
  for (const name in after) {
    const now = after[name];
    const then = Object.hasOwn(before, name) ? before[name] : undefined;
    if (steps.due(now)) yield;
    if (now === then) continue;
    const below = ignored?.[name];
    const field = map.field(name);
    const type = field?.type ?? map.additional;
    if (below === true || type === undefined) continue;
    const element = field?.element ?? fieldElement(name);
    if (then === undefined) addTo(out, 'changed', element, yield* allOf(type, now, below));
    else if (steps.heavy || isHeavy(then)) yield* compareValues(type, then, now, below, element, out);
    else compareSmall(type, then, now, below, element, out);
  }
  yield* findRemoved(map, before, after, ignored, out);
}

function* findRemoved(map: MapType, before: Json, after: Json, ignored: Ignored | undefined, out: Levels): Sliced<void> {
  const steps = new Steps();
  for (const name in before) {
    if (steps.due(before[name])) yield;
    if (Object.hasOwn(after, name)) continue;
    const below = ignored?.[name];
    const field = map.field(name);
    const type = field?.type ?? map.additional;
    if (below === true || type === undefined) continue;
    addTo(out, 'removed', field?.element ?? fieldElement(name), yield* allOf(type, before[name], below));
  }
}

function* compareValues(type: ValueType, then: Json, now: Json, ignored: Ignored | undefined, element: string, out: Levels): Sliced<void> {
  const side = sideOf(type, now === null ? then : now);
  const before = sideOf(type, then === null ? now : then);
  const below: Levels = {};
  let self = false;
  if (side !== before) {
    self = true;
    below.removed = yield* contents(type, then, false);
    below.changed = yield* contents(type, now, false);
  } else if (side === 'scalar') self = !(yield* equalInSlices(then, now));
  else if (side === 'map') self = yield* compareMaps(type.map!, then, now, ignored, below);
  else self = yield* compareLists(type.list!, then, now, below);
  addTo(out, 'changed', element, yield* nodeOf(self, below.changed && (yield* inOrder(below.changed))));
  addTo(out, 'removed', element, yield* nodeOf(false, below.removed && (yield* inOrder(below.removed))));
}

function* compareMaps(map: MapType, then: Json, now: Json, ignored: Ignored | undefined, out: Levels): Sliced<boolean> {
  if (map.atomic) return !(yield* equalInSlices(then, now));
  yield* compareFields(map, isJsonObject(then) ? then : NO_FIELDS, isJsonObject(now) ? now : NO_FIELDS, ignored, out);
  return false;
}

function* compareLists(list: ListType, then: Json, now: Json, out: Levels): Sliced<boolean> {
  if (yield* equalInSlices(then, now)) return false;
  if (list.atomic || (isNothing(then) && isNothing(now))) return true;
  const before = yield* itemsByElement(list, then ?? []);
  const after = yield* itemsByElement(list, now ?? []);
  const steps = new Steps();
  for (const [element, items] of after) {
    if (steps.due(items)) yield;
    const old = before.get(element);
    const heavy = items.length === 1 && (steps.heavy || isHeavy(old));
    if (heavy && old?.length === 1) {
      if (old[0] !== items[0]) yield* compareValues(list.element, old[0], items[0], undefined, element, out);
    } else if (heavy && old === undefined) addTo(out, 'changed', element, yield* allOf(list.element, items[0]));
    else compareItems(list.element, old, items, element, out);
  }
  for (const [element, items] of before) {
    if (steps.due(items)) yield;
    if (!after.has(element)) addTo(out, 'removed', element, items.length > 1 ? LEAF : yield* allOf(list.element, items[0]));
  }
  return false;
}

export function* itemsByElement(list: ListType, items: readonly Json[]): Sliced<Map<string, Json[]>> {
  const byElement = new Map<string, Json[]>();
  for (let i = 0; i < items.length; i++) {
    if (i % 64 === 63) yield;
    const element = elementOrNone(list, items[i]);
    if (element === undefined) continue;
    const same = byElement.get(element);
    if (same === undefined) byElement.set(element, [items[i]]);
    else same.push(items[i]);
  }
  return byElement;
}

/** A value that is new (or gone) with everything in it that can be owned. */
function* allOf(type: ValueType, value: Json, ignored?: Ignored): Sliced<FieldSet | undefined> {
  if (!isHeavy(value)) return ignored === undefined ? everythingSmall(type, value) : partlySmall(type, value, ignored);
  if (ignored === undefined) return (yield* contents(type, value, true)) ?? LEAF;
  if (type.map === undefined || !isJsonObject(value)) return undefined;
  const levels: Levels = {};
  yield* compareFields(type.map, NO_FIELDS, value, ignored, levels);
  return levels.changed && (yield* inOrder(levels.changed));
}

function* contents(type: ValueType, value: Json, self: boolean): Sliced<Level | undefined> {
  if (typeof value !== 'object' || value === null) return undefined;
  const level: Level = self ? { '.': LEAF } : {};
  if (Array.isArray(value)) {
    if (type.list === undefined || type.list.atomic || value.length === 0) return undefined;
    yield* itemContents(type.list, value, level);
    return yield* inOrder(level);
  }
  if (type.map === undefined || type.map.atomic) return undefined;
  const found = yield* fieldContents(type.map, value, level);
  return found ? yield* inOrder(level) : undefined;
}

function* fieldContents(map: MapType, value: Record<string, Json>, level: Level): Sliced<boolean> {
  const steps = new Steps();
  let found = false;
  for (const name in value) {
    if (steps.due(value[name])) yield;
    const field = map.field(name);
    const type = field?.type ?? map.additional;
    if (type === undefined) continue;
    level[field?.element ?? fieldElement(name)] = steps.heavy ? (yield* allOf(type, value[name]))! : everythingSmall(type, value[name]);
    found = true;
  }
  return found;
}

function* itemContents(list: ListType, value: Json[], level: Level): Sliced<void> {
  const steps = new Steps();
  for (const item of value) {
    if (steps.due(item)) yield;
    const element = elementOrNone(list, item);
    if (element === undefined) continue;
    // Items that share a step cannot be told apart: they are owned together, as one.
    if (level[element] !== undefined) level[element] = LEAF;
    else level[element] = steps.heavy ? (yield* allOf(list.element, item))! : everythingSmall(list.element, item);
  }
}
