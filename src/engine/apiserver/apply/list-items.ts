import type { Json } from '../../../kube/object.ts';
import { printStrings } from '../../../kube/go-text.ts';
import { getField, isJsonObject } from '../../../kube/json-value.ts';
import { keyElement, singleKeyElement, valueElement } from './path-element.ts';
import type { ListType } from './value-type.ts';

/** An item that cannot be told from others, in the words of structured-merge-diff. */
export class ItemError extends Error {}

/** The step that leads to an item of a list that is owned item by item. @throws ItemError */
export function itemElement(list: ListType, item: Json): string {
  if (list.keys.length > 0) return keyedElement(list, item);
  if (item === null) throw new ItemError("associative list without keys has an element that's an explicit null");
  if (Array.isArray(item)) throw new ItemError('not supported: associative list with lists as elements');
  if (typeof item === 'object') throw new ItemError("associative list without keys has an element that's a map type");
  return valueElement(item);
}

function keyedElement(list: ListType, item: Json): string {
  if (list.keys.length === 1 && isJsonObject(item)) {
    const value = getField(item, list.keys[0]);
    if (value !== undefined) return singleKeyElement(list.keys[0], value);
  }
  if (item === null) throw new ItemError('associative list with keys may not have a null element');
  if (!isJsonObject(item)) throw new ItemError('associative list with keys may not have non-map elements');
  const fields: [string, Json][] = [];
  for (const key of list.keys) {
    const value = Object.hasOwn(item, key) ? item[key] : list.keyDefault(key);
    if (value !== undefined) fields.push([key, value]);
  }
  if (fields.length === 0) {
    const names = printStrings(list.keys).slice('[]string{'.length, -1).replaceAll(', ', ' ');
    const detail = "(and doesn't have default values for any key fields)";
    throw new ItemError(`associative list with keys has an element that omits all key fields [${names}] ${detail}`);
  }
  return keyElement(fields);
}

/** Like `itemElement`, undefined for an item that has none. */
export function elementOrNone(list: ListType, item: Json): string | undefined {
  try {
    return itemElement(list, item);
  } catch (error) {
    if (error instanceof ItemError) return undefined;
    throw error;
  }
}

/** Items by their steps, in order of first appearance; items that repeat a step stand together. Unusable items are left out. */
export function itemsByElement(list: ListType, items: readonly Json[]): Map<string, Json[]> {
  const byElement = new Map<string, Json[]>();
  for (const item of items) {
    const element = elementOrNone(list, item);
    if (element === undefined) continue;
    const same = byElement.get(element);
    if (same === undefined) byElement.set(element, [item]);
    else same.push(item);
  }
  return byElement;
}
