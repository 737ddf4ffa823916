import type { Attributes, Decision, UserInfo } from '../user.ts';

interface Entry {
  clusterEpoch: number;
  namespaceEpoch: number;
  /** Undefined when the answer depends on the object's name, and has entries per name. */
  decision: Decision | undefined;
}

/**
 * Decisions by user and attributes. Bounded by two generations: when the young one is full it becomes the old one, and what
 * is still asked for moves back up, so a flood of one-off questions costs others at most one evaluation each.
 */
export class DecisionCache {
  readonly #generationSize: number;
  #young = new Map<string, Entry>();
  #old = new Map<string, Entry>();
  /** Authenticators hand out the same object for the same credential, so the long key of a user is rarely built. */
  #numbers = new WeakMap<UserInfo, number>();
  #numbersByKey = new Map<string, number>();
  #lastNumber = 0;

  constructor(generationSize = 16_384) {
    this.#generationSize = generationSize;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Lengths make the key unambiguous: review requests carry any text in any field. */
  keyOf(attributes: Attributes): string {
    const { user, verb, path } = attributes;
    const number = this.#numbers.get(user) ?? this.#number(user);
    if (path !== undefined) return `${number} ${verb.length} ${verb}${path}`;
    const { group = '', resource = '', subresource = '', namespace = '' } = attributes;
    const lengths = `${verb.length}.${group.length}.${resource.length}.${subresource.length}.${namespace.length}`;
    return `${number} ${lengths} ${verb}${group}${resource}${subresource}${namespace}`;
  }

  find(key: string, clusterEpoch: number, namespaceEpoch: number): Entry | undefined {
    let entry = this.#young.get(key);
    if (entry === undefined) {
      entry = this.#old.get(key);
      if (entry === undefined) return undefined;
      this.#store(key, entry);
    }
    return entry.clusterEpoch === clusterEpoch && entry.namespaceEpoch === namespaceEpoch ? entry : undefined;
  }

  set(key: string, clusterEpoch: number, namespaceEpoch: number, decision: Decision | undefined): void {
    this.#store(key, { clusterEpoch, namespaceEpoch, decision });
  }

  #store(key: string, entry: Entry): void {
    if (this.#young.size >= this.#generationSize) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, entry);
  }

  /** Numbers are never given twice, so dropping the table of users can only cost hits. */
  #number(user: UserInfo): number {
    const key = JSON.stringify([user.name, user.groups]);
    let number = this.#numbersByKey.get(key);
    if (number === undefined) {
      if (this.#numbersByKey.size >= this.#generationSize) this.#numbersByKey.clear();
      number = ++this.#lastNumber;
      this.#numbersByKey.set(key, number);
    }
    this.#numbers.set(user, number);
    return number;
  }
}
