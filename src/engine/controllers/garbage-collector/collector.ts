import type { Client } from '../../../client/client.ts';
import type { DiscoveredResource } from '../../../client/discovery.ts';
import type { ResourceClient } from '../../../client/resource-client.ts';
import { apiVersionOf } from '../../../kube/kind.ts';
import type { KubeObject, OwnerReference } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { AbsentOwners } from './absent-owners.ts';
import { blockingDependents, FOREGROUND_FINALIZER, ORPHAN_FINALIZER, type GraphNode, type Identity, type OwnershipGraph } from './graph.ts';
import { decide, ownerState, type CheckedReference } from './references.ts';

export interface CollectorPorts {
  client: Client;
  graph: OwnershipGraph;
  absentOwners: AbsentOwners;
  resourceOf(apiVersion: string, kind: string): DiscoveredResource | undefined;
  wake(uid: string): void;
  /** The kind is not served (yet): come again when the served resources change. */
  waitForKind(uid: string): void;
  /** An owner that is not where its dependent says was found in another namespace. */
  invalidNamespace(dependent: GraphNode, reference: OwnerReference): void;
}

/** Decides about one object of the graph at a time, always from what the server says now: the graph only tells whom to ask about. */
export class Collector {
  #ports: CollectorPorts;

  constructor(ports: CollectorPorts) {
    this.#ports = ports;
  }

  async process(uid: string): Promise<void> {
    const node = this.#ports.graph.get(uid);
    if (!node) return;
    if (node.orphaning) {
      await this.#orphanDependents(node);
      return;
    }
    if (node.beingDeleted && !node.deletingDependents) return;
    const resource = this.#ports.resourceOf(node.identity.apiVersion, node.identity.kind);
    if (!resource) {
      this.#ports.waitForKind(uid);
      return;
    }
    const object = await this.#read(resource, node.identity);
    if (node.virtual) {
      this.#settle(node, resource, object);
      return;
    }
    if (!object) {
      this.#ports.graph.remove(uid);
      return;
    }
    if (node.deletingDependents) await this.#goOnDeletingDependents(node, resource, object);
    else await this.#collect(node, resource, object);
  }

  /** A virtual node becomes known or goes. */
  #settle(node: GraphNode, resource: DiscoveredResource, object: KubeObject | undefined): void {
    const { graph } = this.#ports;
    if (!object) {
      graph.confirmAbsent(node);
      return;
    }
    const { metadata } = object;
    const identity: Identity = {
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      namespace: metadata.namespace ?? '',
      name: metadata.name!,
      uid: metadata.uid!,
    };
    graph.confirm(node, identity);
    graph.observe(identity, metadata);
  }

  async #collect(node: GraphNode, resource: DiscoveredResource, object: KubeObject): Promise<void> {
    const checked: CheckedReference[] = [];
    for (const reference of object.metadata.ownerReferences ?? []) {
      const state = await this.#check(node, reference);
      if (state === undefined) return;
      checked.push({ reference, state });
    }
    const anyDeletingTheirs = [...node.dependents].some((dependent) => dependent.deletingDependents);
    const verdict = decide(object, checked, { any: node.dependents.size > 0, anyDeletingTheirs });
    const objects = this.#objects(resource, node.identity.namespace);
    switch (verdict.type) {
      case 'keep':
        return;
      case 'dropReferences':
        await dropOwners(objects, object, verdict.uids);
        return;
      case 'delete':
        await this.#delete(objects, verdict.unblock ? await unblockOwners(objects, object) : object, verdict.propagation);
    }
  }

  /** Undefined when this cannot be answered: nothing is deleted on a guess. */
  async #check(node: GraphNode, reference: OwnerReference): Promise<CheckedReference['state'] | undefined> {
    const resource = this.#ports.resourceOf(reference.apiVersion, reference.kind);
    if (!resource) {
      this.#ports.waitForKind(node.identity.uid);
      return undefined;
    }
    // A cluster-scoped object cannot have a namespaced owner: there is no namespace to look in, and no retry helps.
    if (resource.namespaced && node.identity.namespace === '') return undefined;
    const { apiVersion, kind, name, uid } = reference;
    const identity = { apiVersion, kind, name, uid, namespace: resource.namespaced ? node.identity.namespace : '' };
    if (this.#ports.absentOwners.has(identity)) return 'absent';
    const state = ownerState(await getOrUndefined(this.#objects(resource, identity.namespace), name), uid);
    if (state !== 'absent') return state;
    if (resource.namespaced) await this.#reportOwnerElsewhere(node, resource, reference);
    this.#ports.absentOwners.add(identity);
    return 'absent';
  }

  async #reportOwnerElsewhere(node: GraphNode, resource: DiscoveredResource, reference: OwnerReference): Promise<void> {
    const namesakes = await this.#ports.client.metadata(resource).list({ fieldSelector: `metadata.name=${reference.name}`, limit: 500 });
    const elsewhere = namesakes.items.some(
      ({ metadata }) => metadata.uid === reference.uid && metadata.namespace !== node.identity.namespace,
    );
    if (elsewhere) this.#ports.invalidNamespace(node, reference);
  }

  async #goOnDeletingDependents(node: GraphNode, resource: DiscoveredResource, object: KubeObject): Promise<void> {
    const blocking = blockingDependents(node);
    if (blocking.length === 0) {
      await removeFinalizer(this.#objects(resource, node.identity.namespace), object, FOREGROUND_FINALIZER);
      return;
    }
    for (const dependent of blocking) if (!dependent.deletingDependents) this.#ports.wake(dependent.identity.uid);
  }

  async #orphanDependents(owner: GraphNode): Promise<void> {
    for (const dependent of owner.dependents) {
      const resource = this.#ports.resourceOf(dependent.identity.apiVersion, dependent.identity.kind);
      const object = resource && (await this.#read(resource, dependent.identity));
      if (object) await dropOwners(this.#objects(resource, dependent.identity.namespace), object, [owner.identity.uid]);
    }
    const resource = this.#ports.resourceOf(owner.identity.apiVersion, owner.identity.kind);
    const object = resource && (await this.#read(resource, owner.identity));
    if (object) await removeFinalizer(this.#objects(resource, owner.identity.namespace), object, ORPHAN_FINALIZER);
  }

  async #delete(objects: ResourceClient, object: KubeObject, propagationPolicy: 'Orphan' | 'Foreground' | 'Background'): Promise<void> {
    const { name, uid, resourceVersion } = object.metadata;
    // With the version as precondition a change of owners in between is a Conflict, and is looked at again.
    await ignoreAbsent(objects.delete(name!, { propagationPolicy, preconditions: { uid, resourceVersion } }));
  }

  async #read(resource: DiscoveredResource, identity: Identity): Promise<KubeObject | undefined> {
    if (resource.namespaced && identity.namespace === '') return undefined;
    const object = await getOrUndefined(this.#objects(resource, identity.namespace), identity.name);
    return object?.metadata.uid === identity.uid ? object : undefined;
  }

  #objects(resource: DiscoveredResource, namespace: string): ResourceClient {
    return this.#ports.client.metadata(resource, resource.namespaced ? namespace : undefined);
  }
}

async function dropOwners(objects: ResourceClient, object: KubeObject, uids: readonly string[]): Promise<void> {
  const references = object.metadata.ownerReferences ?? [];
  const rest = references.filter((reference) => !uids.includes(reference.uid));
  if (rest.length < references.length) await ignoreAbsent(patchMetadata(objects, object, { ownerReferences: rest }));
}

function unblockOwners(objects: ResourceClient, object: KubeObject): Promise<KubeObject> {
  const ownerReferences = (object.metadata.ownerReferences ?? []).map((reference) => ({ ...reference, blockOwnerDeletion: false }));
  return patchMetadata(objects, object, { ownerReferences });
}

async function removeFinalizer(objects: ResourceClient, object: KubeObject, finalizer: string): Promise<void> {
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(finalizer)) return;
  await ignoreAbsent(patchMetadata(objects, object, { finalizers: finalizers.filter((name) => name !== finalizer) }));
}

function patchMetadata(objects: ResourceClient, object: KubeObject, change: object): Promise<KubeObject> {
  const { name, uid, resourceVersion } = object.metadata;
  return objects.patch(name!, { type: 'merge', patch: { metadata: { uid, resourceVersion, ...change } } });
}

async function getOrUndefined(objects: ResourceClient, name: string): Promise<KubeObject | undefined> {
  try {
    return await objects.get(name);
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}

async function ignoreAbsent(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}
