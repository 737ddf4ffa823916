import { deepEqual, isJsonObject } from '../../../kube/json-value.ts';
import type { Json } from '../../../kube/object.ts';
import { inOrder, LEAF, nodeOf, type FieldSet } from './field-set.ts';
import { elementOrNone, itemsByElement } from './list-items.ts';
import { fieldElement } from './path-element.ts';
import { sideOf, type ListType, type MapType, type ValueType } from './value-type.ts';

/** Which fields differ between two states of an object. */
export interface Difference {
  /** Added or with another value. */
  changed?: FieldSet;
  removed?: FieldSet;
}

/** Fields that nobody can own, as a tree: true leaves out a field and all below it. */
export interface Ignored {
  readonly [field: string]: true | Ignored;
}

export type Level = Record<string, FieldSet>;

/** The steps of one level while it is being compared. Made only when something differs: most levels are equal. */
export interface Levels {
  changed?: Level;
  removed?: Level;
}

const NOTHING: Json[] = [];
export const NO_FIELDS: Record<string, Json> = {};

/** Compares two objects (or what is below them) of one type. Equal parts cost a comparison and no memory. */
export function difference(type: ValueType, before: Json, after: Json, ignored?: Ignored): Difference {
  const levels: Levels = {};
  if (type.map !== undefined) compareFields(type.map, before ?? NO_FIELDS, after ?? NO_FIELDS, ignored, levels);
  const result: Difference = {};
  if (levels.changed) result.changed = inOrder(levels.changed);
  if (levels.removed) result.removed = inOrder(levels.removed);
  return result;
}

function compareFields(map: MapType, before: Json, after: Json, ignored: Ignored | undefined, out: Levels): void {
  let shared = 0;
  for (const name in after) {
    const now = after[name];
    let then = before[name];
    if (then !== undefined) {
      // Names such as `constructor` find something in every object.
      if (now === then) {
        shared++;
        continue;
      }
      if (Object.hasOwn(before, name)) shared++;
      else then = undefined;
    }
    const below = ignored?.[name];
    if (below === true) continue;
    const field = map.field(name);
    const type = field?.type ?? map.additional;
    if (type === undefined) continue;
    const element = field?.element ?? fieldElement(name);
    if (then === undefined) addTo(out, 'changed', element, below === undefined ? everything(type, now) : partly(type, now, below));
    else compareValues(type, then, now, below, element, out);
  }
  for (const _ in before) shared--;
  if (shared !== 0) findRemoved(map, before, after, ignored, out);
}

function findRemoved(map: MapType, before: Json, after: Json, ignored: Ignored | undefined, out: Levels): void {
  for (const name in before) {
    if (Object.hasOwn(after, name)) continue;
    const below = ignored?.[name];
    if (below === true) continue;
    const field = map.field(name);
    const type = field?.type ?? map.additional;
    if (type === undefined) continue;
    const element = field?.element ?? fieldElement(name);
    addTo(out, 'removed', element, below === undefined ? everything(type, before[name]) : partly(type, before[name], below));
  }
}

export function addTo(out: Levels, side: keyof Levels, element: string, node: FieldSet | undefined): void {
  if (node !== undefined) (out[side] ??= {})[element] = node;
}

export function compareValues(type: ValueType, then: Json, now: Json, ignored: Ignored | undefined, element: string, out: Levels): void {
  const side = sideOf(type, now === null ? then : now);
  const before = sideOf(type, then === null ? now : then);
  const below: Levels = {};
  let self = false;
  if (side !== before) {
    // The value became one of another kind: it changed itself, one kind's contents went and the other's came.
    self = true;
    below.removed = contents(type, then, false);
    below.changed = contents(type, now, false);
  } else if (side === 'scalar') self = !deepEqual(then, now);
  else if (side === 'map') self = compareMaps(type.map!, then, now, ignored, below);
  else self = compareLists(type.list!, then, now, below);
  addTo(out, 'changed', element, nodeOf(self, below.changed && inOrder(below.changed)));
  addTo(out, 'removed', element, nodeOf(false, below.removed && inOrder(below.removed)));
}

/** @returns whether the object differs as a whole */
function compareMaps(map: MapType, then: Json, now: Json, ignored: Ignored | undefined, out: Levels): boolean {
  const bothEmpty = isNothing(then) && isNothing(now);
  if (map.atomic || bothEmpty) return !deepEqual(then, now);
  compareFields(map, isJsonObject(then) ? then : NO_FIELDS, isJsonObject(now) ? now : NO_FIELDS, ignored, out);
  return false;
}

export function isNothing(value: Json): boolean {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}

/** @returns whether the list differs as a whole */
function compareLists(list: ListType, then: Json, now: Json, out: Levels): boolean {
  if (deepEqual(then, now)) return false;
  if (list.atomic || (isNothing(then) && isNothing(now))) return true;
  const before = itemsByElement(list, then ?? NOTHING);
  const after = itemsByElement(list, now ?? NOTHING);
  for (const [element, items] of after) compareItems(list.element, before.get(element), items, element, out);
  for (const [element, items] of before) {
    if (!after.has(element)) addTo(out, 'removed', element, items.length > 1 ? LEAF : everything(list.element, items[0]));
  }
  return false;
}

/** Items that share a step cannot be told apart: they are owned together, as one. */
export function compareItems(type: ValueType, before: Json[] | undefined, after: Json[], element: string, out: Levels): void {
  if (before === undefined) addTo(out, 'changed', element, after.length > 1 ? LEAF : everything(type, after[0]));
  else if (before.length === 1 && after.length === 1) {
    if (before[0] !== after[0]) compareItemValues(type, before[0], after[0], element, out);
  } else if (before.length > 1 && after.length > 1) {
    if (!deepEqual(before, after)) addTo(out, 'changed', element, LEAF);
  } else if (before.length > 1) {
    addTo(out, 'changed', element, everything(type, after[0]));
    addTo(out, 'removed', element, LEAF);
  } else {
    addTo(out, 'removed', element, everything(type, before[0]));
    addTo(out, 'changed', element, LEAF);
  }
}

function compareItemValues(type: ValueType, then: Json, now: Json, element: string, out: Levels): void {
  if (typeof now !== 'object' && typeof then !== 'object') {
    addTo(out, 'changed', element, LEAF);
    return;
  }
  compareValues(type, then, now, undefined, element, out);
}

/** A value that is new (or gone) with everything in it: its own step and all below. */
export function everything(type: ValueType, value: Json): FieldSet {
  return typeof value === 'object' && value !== null ? (contents(type, value, true) ?? LEAF) : LEAF;
}

/** Like `everything`, where part of what is below cannot be owned; the value itself is not either. */
export function partly(type: ValueType, value: Json, ignored: Ignored): FieldSet | undefined {
  if (type.map === undefined || !isJsonObject(value)) return undefined;
  const levels: Levels = {};
  compareFields(type.map, NO_FIELDS, value, ignored, levels);
  return levels.changed && inOrder(levels.changed);
}

/** What is below a value, in order, and with `self` its own step too; undefined when it is owned as a whole. */
function contents(type: ValueType, value: Json, self: boolean): Level | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return listContents(type, value, self);
  const { map } = type;
  if (map === undefined || map.atomic) return undefined;
  let level: Level | undefined;
  let previous = '';
  let ordered = true;
  for (const name in value) {
    const field = map.field(name);
    const fieldType = field?.type ?? map.additional;
    if (fieldType === undefined) continue;
    const item = value[name];
    level ??= self ? { '.': LEAF } : {};
    level[field?.element ?? fieldElement(name)] = typeof item === 'object' ? everything(fieldType, item) : LEAF;
    if (name < previous) ordered = false;
    previous = name;
  }
  return level === undefined || ordered ? level : inOrder(level);
}

function listContents({ list }: ValueType, value: Json[], self: boolean): Level | undefined {
  if (list === undefined || list.atomic || value.length === 0) return undefined;
  const level: Level = self ? { '.': LEAF } : {};
  for (const item of value) {
    const element = elementOrNone(list, item);
    if (element === undefined) continue;
    // Items that share a step cannot be told apart: they are owned together, as one.
    level[element] = level[element] === undefined ? everything(list.element, item) : LEAF;
  }
  return inOrder(level);
}
