import type { ResourceClient } from '../../../client/resource-client.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { controllerOf, ownerReference } from '../../../kube/ownership.ts';
import { isStatusError } from '../../../kube/status.ts';

export interface ClaimPorts {
  /** The objects that may be claimed, in the owner's namespace. */
  objects: ResourceClient;
  /** The owner as the server has it now. */
  readOwner(): Promise<KubeObject>;
  matches(object: KubeObject): boolean;
  /** Set on what is adopted, taken off what is released. */
  finalizer?: string;
}

/** Adopts matching orphans, releases what does not match any more. @returns what the owner controls then. */
export async function claim(owner: KubeObject, candidates: readonly KubeObject[], ports: ClaimPorts): Promise<KubeObject[]> {
  const claimed: KubeObject[] = [];
  let mayAdopt: Promise<void> | undefined;
  for (const object of candidates) {
    const controller = controllerOf(object);
    if (controller) {
      if (controller.uid !== owner.metadata.uid) continue;
      if (ports.matches(object)) claimed.push(object);
      else if (owner.metadata.deletionTimestamp === undefined) await release(owner, object, ports);
      continue;
    }
    if (owner.metadata.deletionTimestamp !== undefined || object.metadata.deletionTimestamp !== undefined) continue;
    if (!ports.matches(object)) continue;
    // The owner in the cache may be gone already, or be another of the same name.
    await (mayAdopt ??= checkOwner(owner, ports));
    const adopted = await adopt(owner, object, ports);
    if (adopted) claimed.push(adopted);
  }
  return claimed;
}

async function checkOwner(owner: KubeObject, ports: ClaimPorts): Promise<void> {
  const { namespace, name, uid } = owner.metadata;
  const fresh = await ports.readOwner();
  const place = `${namespace}/${name}`;
  if (fresh.metadata.uid !== uid) throw new Error(`original ${owner.kind} ${place} is gone: got uid ${fresh.metadata.uid}, wanted ${uid}`);
  if (fresh.metadata.deletionTimestamp !== undefined) {
    throw new Error(`${place} has just been deleted at ${fresh.metadata.deletionTimestamp}`);
  }
}

function adopt(owner: KubeObject, object: KubeObject, { objects, finalizer }: ClaimPorts): Promise<KubeObject | undefined> {
  const { ownerReferences = [], finalizers = [] } = object.metadata;
  const reference = ownerReference(owner, { controller: true, blockOwnerDeletion: true });
  const change = {
    ownerReferences: [...ownerReferences.filter(({ uid }) => uid !== reference.uid), reference],
    ...(finalizer && !finalizers.includes(finalizer) ? { finalizers: [...finalizers, finalizer] } : {}),
  };
  return patchMetadata(objects, object, change);
}

async function release(owner: KubeObject, object: KubeObject, { objects, finalizer }: ClaimPorts): Promise<void> {
  const { ownerReferences = [], finalizers = [] } = object.metadata;
  await patchMetadata(objects, object, {
    ownerReferences: ownerReferences.filter(({ uid }) => uid !== owner.metadata.uid),
    ...(finalizer && finalizers.includes(finalizer) ? { finalizers: finalizers.filter((name) => name !== finalizer) } : {}),
  });
}

/** With the version: a change of somebody else in between is a Conflict, and is looked at again. @returns undefined when it is gone. */
export async function patchMetadata(objects: ResourceClient, object: KubeObject, change: object): Promise<KubeObject | undefined> {
  const { name, uid, resourceVersion } = object.metadata;
  try {
    return await objects.patch(name!, { type: 'merge', patch: { metadata: { uid, resourceVersion, ...change } } });
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}
