import { isJsonObject, setField } from '../../../kube/json-value.ts';
import type { Json } from '../../../kube/object.ts';
import { itemElement } from './list-items.ts';
import { sideOf, type ListType, type MapType, type ValueType } from './value-type.ts';

/**
 * The live object with an applied configuration merged in: what is owned as a whole is replaced, the rest is merged field by
 * field and item by item. Parts that the configuration does not mention are shared with the live object.
 */
export function mergeValues(type: ValueType, live: Json, config: Json): Json {
  if (config === undefined) return live;
  if (live === undefined) return config;
  const side = sideOf(type, config === null ? live : config);
  if (side !== sideOf(type, live === null ? config : live)) return config;
  if (side === 'map' && !type.map!.atomic) return mergeMaps(type.map!, live, config);
  if (side === 'list' && !type.list!.atomic) return mergeLists(type.list!, live, config);
  return config;
}

export function isEmpty(value: Json): boolean {
  return value === null || (Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0);
}

function mergeMaps(map: MapType, live: Json, config: Json): Json {
  if (isEmpty(live)) return config;
  // Null for an object that is owned by its fields states no field: the live ones stay.
  if (isEmpty(config)) return live;
  const merged: Record<string, Json> = {};
  for (const name in live) {
    const type = map.field(name)?.type ?? map.additional;
    const stated = Object.hasOwn(config, name);
    setField(merged, name, stated && type !== undefined ? mergeValues(type, live[name], config[name]) : live[name]);
  }
  for (const name in config) if (!Object.hasOwn(live, name)) setField(merged, name, config[name]);
  return merged;
}

/**
 * Items of the configuration come in its order; live items that it does not mention keep their place between those that
 * both have.
 */
function mergeLists(list: ListType, live: Json, config: Json): Json {
  if (isEmpty(live)) return config;
  if (isEmpty(config)) return live;
  const merged: Json[] = [];
  for (const pair of new ListMerge(list, live, config).pairs()) merged.push(mergeValues(list.element, pair.live, pair.config));
  return merged;
}

/** An item of the result: what was there, and what the configuration says of it. */
interface MergedItem {
  live: Json;
  config: Json;
}

export class ListMerge {
  readonly #live: Json[];
  readonly #liveElements: string[];
  /** Null for items that repeat a step: they cannot be merged with. */
  readonly #liveItems = new Map<string, Json>();
  readonly #configElements: string[];
  readonly #configItems = new Map<string, Json>();
  readonly #pairs: MergedItem[] = [];

  constructor(list: ListType, live: Json[], config: Json[]) {
    this.#live = live;
    this.#liveElements = live.map((item) => itemElement(list, item));
    this.#liveElements.forEach((element, i) => this.#liveItems.set(element, this.#liveItems.has(element) ? null : live[i]));
    this.#configElements = config.map((item) => itemElement(list, item));
    this.#configElements.forEach((element, i) => this.#configItems.set(element, config[i]));
  }

  /** The items of the result in their order, not merged yet. */
  pairs(): readonly MergedItem[] {
    const shared = this.#configElements.filter((element) => this.#liveItems.has(element));
    const done = new Set<string>();
    let nextShared = 0;
    let l = 0;
    let c = 0;
    while (l < this.#liveElements.length || c < this.#configElements.length) {
      const liveElement = this.#liveElements[l];
      const configElement = this.#configElements[c];
      const bothLeft = liveElement !== undefined && configElement !== undefined;
      if (bothLeft && liveElement === configElement) {
        this.#takeConfig(configElement, done);
        l++;
        c++;
        nextShared++;
        continue;
      }
      if (bothLeft && this.#configItems.has(liveElement) && shared[nextShared] !== undefined && shared[nextShared] !== liveElement) {
        l++;
        continue;
      }
      if (liveElement !== undefined) {
        if (!this.#configItems.has(liveElement)) {
          this.#pairs.push({ live: this.#live[l], config: undefined });
          l++;
          continue;
        }
        if (done.has(liveElement)) l++;
      }
      if (configElement !== undefined) {
        this.#takeConfig(configElement, done);
        c++;
        if (shared[nextShared] === configElement) nextShared++;
      }
    }
    return this.#pairs;
  }

  #takeConfig(element: string, done: Set<string>): void {
    done.add(element);
    const live = this.#liveItems.get(element) ?? undefined;
    this.#pairs.push({ live, config: this.#configItems.get(element) });
  }
}
