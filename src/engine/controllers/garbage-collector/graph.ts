import type { ObjectMeta, OwnerReference } from '../../../kube/object.ts';

/** Where an object is, or where somebody says that it is. */
export interface Identity {
  apiVersion: string;
  kind: string;
  /** '' for cluster-scoped objects. */
  namespace: string;
  name: string;
  uid: string;
}

export interface GraphNode {
  identity: Identity;
  owners: readonly OwnerReference[];
  dependents: Set<GraphNode>;
  /** Known only because somebody names it as an owner; whether it exists has to be asked. */
  virtual: boolean;
  beingDeleted: boolean;
  /** Waits for its dependents to go (foreground deletion). */
  deletingDependents: boolean;
  /** Waits for its dependents to be told that it goes without them. */
  orphaning: boolean;
  /** Of which list of its resource this was seen last. */
  listing: number;
}

export const FOREGROUND_FINALIZER = 'foregroundDeletion';
export const ORPHAN_FINALIZER = 'orphan';

export interface GraphOutlets {
  /** Somebody should decide about this object. */
  wake(uid: string): void;
  /** An owner of others is gone. */
  absent(identity: Identity): void;
  /** The owner exists, in another namespace than the object that names it. */
  invalidNamespace(dependent: GraphNode, reference: OwnerReference): void;
}

/**
 * Who owns whom, as far as anybody owns anything: objects without owners, dependents or a pending deletion of either kind are not kept, so
 * that memory follows ownership and not the number of objects. No I/O.
 */
export class OwnershipGraph {
  #nodes = new Map<string, GraphNode>();
  #listings = new Map<string, number>();
  #outlets: GraphOutlets;

  constructor(outlets: GraphOutlets) {
    this.#outlets = outlets;
  }

  get size(): number {
    return this.#nodes.size;
  }

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  listBegins(apiVersion: string, kind: string): void {
    const id = `${apiVersion}/${kind}`;
    this.#listings.set(id, (this.#listings.get(id) ?? 0) + 1);
  }

  /** What a complete list did not show is gone: its deletion was missed. */
  listEnds(apiVersion: string, kind: string): void {
    const listing = this.#listings.get(`${apiVersion}/${kind}`) ?? 0;
    for (const node of this.#nodes.values()) {
      const { identity } = node;
      if (!node.virtual && identity.apiVersion === apiVersion && identity.kind === kind && node.listing < listing)
        this.remove(identity.uid);
    }
  }

  /** An object was added, changed or listed. */
  observe(identity: Identity, metadata: ObjectMeta): void {
    const owners = metadata.ownerReferences ?? [];
    const deleting = metadata.deletionTimestamp !== undefined;
    const waits = (finalizer: string): boolean => deleting && metadata.finalizers?.includes(finalizer) === true;
    let node = this.#nodes.get(identity.uid);
    if (!node) {
      if (owners.length === 0 && !waits(FOREGROUND_FINALIZER) && !waits(ORPHAN_FINALIZER)) return;
      node = this.#insert(identity, false);
    } else if (node.virtual) this.#materialise(node, identity);
    node.listing = this.#listings.get(`${identity.apiVersion}/${identity.kind}`) ?? 0;
    this.#setOwners(node, owners);
    node.beingDeleted = deleting;
    const startsOrphaning = waits(ORPHAN_FINALIZER) && !node.orphaning;
    const startsForeground = waits(FOREGROUND_FINALIZER) && !node.deletingDependents;
    node.orphaning = waits(ORPHAN_FINALIZER);
    node.deletingDependents = waits(FOREGROUND_FINALIZER);
    if (startsOrphaning) this.#outlets.wake(identity.uid);
    else if (startsForeground) {
      for (const dependent of node.dependents) this.#outlets.wake(dependent.identity.uid);
      this.#outlets.wake(identity.uid);
    }
    this.#prune(node);
  }

  /** The object is gone: its dependents lost an owner, and owners that waited for it may go on. */
  remove(uid: string): void {
    const node = this.#nodes.get(uid);
    if (!node) return;
    this.#nodes.delete(uid);
    if (node.dependents.size > 0) this.#outlets.absent(node.identity);
    for (const dependent of node.dependents) this.#outlets.wake(dependent.identity.uid);
    for (const reference of node.owners) {
      const owner = this.#nodes.get(reference.uid);
      if (!owner) continue;
      owner.dependents.delete(node);
      if (owner.deletingDependents) this.#outlets.wake(reference.uid);
      this.#prune(owner);
    }
  }

  /** The server confirmed an owner that was known by name only. */
  confirm(node: GraphNode, identity: Identity): void {
    if (node.virtual) this.#materialise(node, identity);
  }

  /**
   * The server does not have what a virtual node stands for. Dependents that named it so lost this owner; when others name it differently
   * (another name, namespace or kind for the same uid), that has to be asked next.
   */
  confirmAbsent(node: GraphNode): void {
    const absent = node.identity;
    const { matching, differing } = this.#split(node, absent);
    const other = differing
      .flatMap((dependent) => identitiesNamedBy(dependent, absent.uid))
      .find((identity) => !sameIdentity(identity, absent));
    if (!other) {
      this.remove(absent.uid);
      return;
    }
    for (const dependent of matching) {
      node.dependents.delete(dependent);
      this.#outlets.wake(dependent.identity.uid);
    }
    node.identity = other;
    this.#outlets.wake(absent.uid);
  }

  #insert(identity: Identity, virtual: boolean): GraphNode {
    const node: GraphNode = {
      identity,
      owners: [],
      dependents: new Set(),
      virtual,
      beingDeleted: false,
      deletingDependents: false,
      orphaning: false,
      listing: this.#listings.get(`${identity.apiVersion}/${identity.kind}`) ?? 0,
    };
    this.#nodes.set(identity.uid, node);
    return node;
  }

  /** What was hearsay is now known: whoever named it differently has to be looked at. */
  #materialise(node: GraphNode, identity: Identity): void {
    node.virtual = false;
    node.identity = identity;
    for (const dependent of this.#split(node, identity).differing) {
      this.#reportNamespace(dependent, node);
      this.#outlets.wake(dependent.identity.uid);
    }
  }

  #setOwners(node: GraphNode, owners: readonly OwnerReference[]): void {
    const before = node.owners;
    if (before === owners || (before.length === 0 && owners.length === 0)) return;
    node.owners = owners;
    for (const old of before) {
      const now = owners.find((reference) => reference.uid === old.uid);
      const unblocks = old.blockOwnerDeletion === true && now?.blockOwnerDeletion !== true;
      const owner = this.#nodes.get(old.uid);
      if (!owner) continue;
      if (unblocks) this.#outlets.wake(old.uid);
      if (!now) {
        owner.dependents.delete(node);
        this.#prune(owner);
      }
    }
    let doubtful = false;
    for (const reference of owners) {
      if (before.some((old) => old.uid === reference.uid && sameCoordinates(old, reference))) continue;
      doubtful = this.#addTo(reference, node) || doubtful;
    }
    if (doubtful) this.#outlets.wake(node.identity.uid);
  }

  /** @returns whether the reference does not fit what is known of the owner. */
  #addTo(reference: OwnerReference, node: GraphNode): boolean {
    let owner = this.#nodes.get(reference.uid);
    if (!owner) {
      owner = this.#insert(namedBy(node, reference), true);
      owner.dependents.add(node);
      this.#outlets.wake(reference.uid);
      return false;
    }
    owner.dependents.add(node);
    this.#reportNamespace(node, owner);
    return !fits(reference, node, owner.identity);
  }

  #reportNamespace(dependent: GraphNode, owner: GraphNode): void {
    const { namespace, uid } = owner.identity;
    if (owner.virtual || namespace === '' || namespace === dependent.identity.namespace) return;
    const reference = dependent.owners.find((one) => one.uid === uid);
    if (reference) this.#outlets.invalidNamespace(dependent, reference);
  }

  #split(node: GraphNode, identity: Identity): { matching: GraphNode[]; differing: GraphNode[] } {
    const matching: GraphNode[] = [];
    const differing: GraphNode[] = [];
    for (const dependent of node.dependents) {
      const references = dependent.owners.filter((reference) => reference.uid === identity.uid);
      if (references.some((reference) => fits(reference, dependent, identity))) matching.push(dependent);
      if (references.some((reference) => !fits(reference, dependent, identity))) differing.push(dependent);
    }
    return { matching, differing };
  }

  #prune(node: GraphNode): void {
    const idle = node.owners.length === 0 && node.dependents.size === 0 && !node.deletingDependents && !node.orphaning;
    if (idle) this.#nodes.delete(node.identity.uid);
  }
}

/** Dependents whose own existence keeps a foreground deletion waiting. */
export function blockingDependents(node: GraphNode): GraphNode[] {
  return [...node.dependents].filter((dependent) =>
    dependent.owners.some((reference) => reference.uid === node.identity.uid && reference.blockOwnerDeletion === true),
  );
}

/** The owner as its dependent names it: owners are cluster-scoped or in the dependent's namespace. */
function namedBy(dependent: GraphNode, reference: OwnerReference): Identity {
  const { apiVersion, kind, name, uid } = reference;
  return { apiVersion, kind, name, uid, namespace: dependent.identity.namespace };
}

function identitiesNamedBy(dependent: GraphNode, uid: string): Identity[] {
  return dependent.owners.filter((reference) => reference.uid === uid).map((reference) => namedBy(dependent, reference));
}

function sameIdentity(a: Identity, b: Identity): boolean {
  return a.uid === b.uid && a.namespace === b.namespace && sameCoordinates(a, b);
}

function sameCoordinates(a: Omit<OwnerReference, 'controller'>, b: Omit<OwnerReference, 'controller'>): boolean {
  return a.apiVersion === b.apiVersion && a.kind === b.kind && a.name === b.name;
}

function fits(reference: OwnerReference, dependent: GraphNode, owner: Identity): boolean {
  return (owner.namespace === '' || owner.namespace === dependent.identity.namespace) && sameCoordinates(reference, owner);
}
