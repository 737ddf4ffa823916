import { addTo, excess, resourceListText, type ResourceList } from '../../../../kube/resource-list.ts';
import { Quantity } from '../../../../kube/quantity.ts';

/** What a quota of the tree limits, and in which ResourceQuota of every namespace below it is counted. */
export interface TreeLimit {
  hard: ResourceList;
  countedIn: string;
}

interface Branch {
  parent: string | undefined;
  children: Set<string>;
  limits: Map<string, TreeLimit>;
  /** By the name of the ResourceQuota: what this namespace uses, and what it uses together with everything below. */
  local: Map<string, ResourceList>;
  subtree: Map<string, ResourceList>;
}

/** Why a namespace may not use more: the quota that has no room, and where it stands. */
export interface Excess {
  namespace: string;
  quota: string;
  message: string;
}

/**
 * What every branch of the tree uses and may use. A decision looks at the namespaces above one namespace and at nothing else: its cost
 * is the depth of the tree, whatever its size.
 */
export class TreeLedger {
  readonly #branches = new Map<string, Branch>();

  /** The parent as the tree has it now. A namespace that is gone has neither parent nor usage. */
  place(namespace: string, parent: string | undefined): void {
    const branch = this.#branch(namespace);
    if (branch.parent === parent) return;
    const moved = [...branch.subtree];
    for (const [quota, used] of moved) this.#addAbove(branch, quota, negative(used));
    if (branch.parent !== undefined) {
      this.#branch(branch.parent).children.delete(namespace);
      this.#forgetEmpty(branch.parent);
    }
    branch.parent = parent;
    if (parent !== undefined) this.#branch(parent).children.add(namespace);
    for (const [quota, used] of moved) this.#addAbove(branch, quota, used);
    this.#forgetEmpty(namespace);
  }

  setLimit(namespace: string, quota: string, limit: TreeLimit | undefined): void {
    if (limit) this.#branch(namespace).limits.set(quota, limit);
    else this.#branches.get(namespace)?.limits.delete(quota);
    this.#forgetEmpty(namespace);
  }

  /** What one ResourceQuota of the namespace counts in all; undefined when there is none any more. */
  setUsage(namespace: string, countedIn: string, used: ResourceList | undefined): void {
    const branch = this.#branch(namespace);
    const before = branch.local.get(countedIn) ?? new Map<string, Quantity>();
    const change = new Map(used ?? []);
    addTo(change, negative(before));
    if (used) branch.local.set(countedIn, used);
    else branch.local.delete(countedIn);
    addToUsage(branch.subtree, countedIn, change);
    this.#addAbove(branch, countedIn, change);
    this.#forgetEmpty(namespace);
  }

  usageOf(namespace: string, countedIn: string): ResourceList {
    return this.#branches.get(namespace)?.local.get(countedIn) ?? new Map();
  }

  /** What the namespace and everything below use of what a quota of it limits. */
  used(namespace: string, quota: string): ResourceList {
    const branch = this.#branches.get(namespace);
    const limit = branch?.limits.get(quota);
    if (!branch || !limit) return new Map();
    const used = branch.subtree.get(limit.countedIn);
    return new Map([...limit.hard.keys()].map((name) => [name, used?.get(name) ?? Quantity.zero]));
  }

  /** The limits that hold for a namespace, its own and those above, by the ResourceQuota they are counted in. */
  limitsFor(namespace: string): Map<string, { namespace: string; quota: string; limit: TreeLimit }[]> {
    const result = new Map<string, { namespace: string; quota: string; limit: TreeLimit }[]>();
    for (const [name, branch] of this.#upwards(namespace)) {
      for (const [quota, limit] of branch.limits) {
        const entry = { namespace: name, quota, limit };
        const list = result.get(limit.countedIn);
        if (list) list.push(entry);
        else result.set(limit.countedIn, [entry]);
      }
    }
    return result;
  }

  /** Whether the namespace may use so much in all; more than it does now is what is judged, so that old excess is tolerated. */
  excess(namespace: string, countedIn: string, proposed: ResourceList): Excess | undefined {
    const more = excess(proposed, this.usageOf(namespace, countedIn));
    if (more.size === 0) return undefined;
    // From the root down: the quota furthest up is the one that is named.
    for (const [name, branch] of [...this.#upwards(namespace)].reverse()) {
      const used = branch.subtree.get(countedIn) ?? new Map<string, Quantity>();
      for (const [quota, limit] of branch.limits) {
        if (limit.countedIn !== countedIn) continue;
        const message = overLimit(limit.hard, used, more);
        if (message)
          return { namespace: name, quota, message: `exceeded hierarchical quota in namespace "${name}": "${quota}", ${message}` };
      }
    }
    return undefined;
  }

  *#upwards(namespace: string): Generator<[string, Branch]> {
    const seen = new Set<string>();
    for (let name: string | undefined = namespace; name !== undefined && !seen.has(name);) {
      seen.add(name);
      const branch = this.#branches.get(name);
      if (!branch) return;
      yield [name, branch];
      name = branch.parent;
    }
  }

  #addAbove(branch: Branch, countedIn: string, change: ResourceList): void {
    if (branch.parent === undefined) return;
    for (const [, above] of this.#upwards(branch.parent)) {
      if (above === branch) return;
      addToUsage(above.subtree, countedIn, change);
    }
  }

  #branch(namespace: string): Branch {
    let branch = this.#branches.get(namespace);
    if (!branch) {
      branch = { parent: undefined, children: new Set(), limits: new Map(), local: new Map(), subtree: new Map() };
      this.#branches.set(namespace, branch);
    }
    return branch;
  }

  #forgetEmpty(namespace: string): void {
    const branch = this.#branches.get(namespace);
    if (!branch || branch.parent !== undefined) return;
    if (branch.children.size + branch.limits.size + branch.local.size === 0) this.#branches.delete(namespace);
  }
}

function overLimit(hard: ResourceList, used: ResourceList, more: ResourceList): string | undefined {
  const over = [...more].filter(([name, amount]) => {
    const limit = hard.get(name);
    return limit !== undefined && (used.get(name) ?? Quantity.zero).add(amount).compare(limit) > 0;
  });
  if (over.length === 0) return undefined;
  return over
    .map(([name]) => name)
    .sort()
    .map((name) => {
      const present = new Map([[name, used.get(name) ?? Quantity.zero]]);
      return `requested: ${resourceListText(more, [name])}, used: ${resourceListText(present, [name])}, limited: ${resourceListText(hard, [name])}`;
    })
    .join(', ');
}

function addToUsage(usage: Map<string, ResourceList>, countedIn: string, change: ResourceList): void {
  const present = usage.get(countedIn) ?? new Map<string, Quantity>();
  addTo(present, change);
  for (const [name, amount] of present) if (amount.sign === 0) present.delete(name);
  if (present.size === 0) usage.delete(countedIn);
  else usage.set(countedIn, present);
}

function negative(list: ResourceList): ResourceList {
  return new Map([...list].map(([name, amount]) => [name, Quantity.zero.sub(amount)]));
}
