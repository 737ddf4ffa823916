import type { Json } from './object.ts';
import { Quantity } from './quantity.ts';

/** Amounts by the name of the resource: `cpu`, `requests.memory`, `count/pods`. */
export type ResourceList = Map<string, Quantity>;

/** From `{ cpu: '500m' }`, as it stands in objects. */
export function toResourceList(amounts: Json): ResourceList {
  const list: ResourceList = new Map();
  for (const name in amounts ?? {}) list.set(name, Quantity.parse(amounts[name]));
  return list;
}

export function fromResourceList(list: ResourceList): Record<string, string> {
  const amounts: Record<string, string> = {};
  for (const name of [...list.keys()].sort()) amounts[name] = list.get(name)!.toString();
  return amounts;
}

/** Adds to `list`, in place. */
export function addTo(list: ResourceList, more: ResourceList): void {
  for (const [name, amount] of more) {
    const present = list.get(name);
    list.set(name, present ? present.add(amount) : amount);
  }
}

/** Raises `list` to at least `other`, in place. */
export function raiseTo(list: ResourceList, other: ResourceList): void {
  for (const [name, amount] of other) {
    const present = list.get(name);
    if (!present || amount.compare(present) > 0) list.set(name, amount);
  }
}

/** The larger of both for every name. */
export function largest(...lists: ResourceList[]): ResourceList {
  const result: ResourceList = new Map();
  for (const list of lists) raiseTo(result, list);
  return result;
}

/** What `list` has more than `other`; nothing below zero. */
export function excess(list: ResourceList, other: ResourceList): ResourceList {
  const result: ResourceList = new Map();
  for (const [name, amount] of list) {
    const rest = other.has(name) ? amount.sub(other.get(name)!) : amount;
    if (rest.sign > 0) result.set(name, rest);
  }
  return result;
}

/** `cpu=500m,pods=1`, for messages. */
export function resourceListText(list: ResourceList, names: Iterable<string>): string {
  return [...names]
    .filter((name) => list.has(name))
    .sort()
    .map((name) => `${name}=${list.get(name)!.toString()}`)
    .join(',');
}
