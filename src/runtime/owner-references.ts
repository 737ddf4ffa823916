import { parseApiVersion, type KubeObject } from '../kube/object.ts';
import { controllerOf } from '../kube/ownership.ts';
import { toKey } from './informer/object-cache.ts';

/** For `Controller.watch`: changes of owned objects wake their controller when it is of the given kind, in whichever version. */
export function ownerKeys(group: string, kind: string): (change: { object: KubeObject }) => string[] {
  return ({ object }) => {
    const owner = controllerOf(object);
    if (owner?.kind !== kind || parseApiVersion(owner.apiVersion).group !== group) return [];
    return [toKey(object.metadata.namespace, owner.name)];
  };
}
