import type { KubeObject, OwnerReference } from '../kube/object.ts';
import { toKey } from './informer/object-cache.ts';

/** A reference that makes `owner` the controller of what carries it: deleted with it, and only one can be. */
export function controllerReference(owner: KubeObject): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name!,
    uid: owner.metadata.uid!,
    controller: true,
    blockOwnerDeletion: true,
  };
}

export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid;
}

/** For `Controller.watch`: changes of owned objects wake their controller when it is of the given kind, in whichever version. */
export function ownerKeys(group: string, kind: string): (change: { object: KubeObject }) => string[] {
  return ({ object }) => {
    const owner = controllerOf(object);
    if (owner?.kind !== kind || groupOf(owner.apiVersion) !== group) return [];
    return [toKey(object.metadata.namespace, owner.name)];
  };
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}
