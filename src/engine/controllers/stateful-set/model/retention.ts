import type { KubeObject, OwnerReference } from '../../../../kube/object.ts';
import { ownerReference } from '../../../../kube/ownership.ts';
import { isInRange, ordinalOf } from './identity.ts';

/**
 * Whom a claim belongs to: the set when it is to go with it, the Pod when it is to go because the set was scaled down, nobody when it is to stay.
 * @returns the owner references it should have, or undefined when they are right
 */
export function claimOwners(set: KubeObject, pod: KubeObject, claim: KubeObject): OwnerReference[] | undefined {
  const references = claim.metadata.ownerReferences ?? [];
  const isSet = (one: OwnerReference): boolean =>
    one.kind === 'StatefulSet' && one.apiVersion === set.apiVersion && one.name === set.metadata.name;
  const isPod = (one: OwnerReference): boolean => one.kind === 'Pod' && one.name === pod.metadata.name;
  const ours = references.filter((one) => isSet(one) || isPod(one));
  const others = references.filter((one) => !isSet(one) && !isPod(one));
  // Left over from a set or Pod of the same name that is gone: the garbage collector deals with it.
  if (ours.some((one) => one.uid !== (isSet(one) ? set : pod).metadata.uid)) return undefined;
  const wanted = others.some(({ controller }) => controller) && !retainsAlways(set) ? [] : wantedOwners(set, pod);
  const right = ours.length === wanted.length && wanted.every(({ uid }) => ours.some((one) => one.uid === uid && one.controller === true));
  return right ? undefined : [...others, ...wanted];
}

function wantedOwners(set: KubeObject, pod: KubeObject): OwnerReference[] {
  const { whenDeleted, whenScaled } = policyOf(set);
  const scaledDown = !isInRange(set, ordinalOf(set, pod));
  if (whenScaled === 'Delete' && scaledDown) return [controllerReference(pod)];
  return whenDeleted === 'Delete' ? [controllerReference(set)] : [];
}

function controllerReference(owner: KubeObject): OwnerReference {
  return ownerReference(owner, { controller: true, blockOwnerDeletion: true });
}

function policyOf(set: KubeObject): { whenDeleted: string; whenScaled: string } {
  return { whenDeleted: 'Retain', whenScaled: 'Retain', ...set.spec.persistentVolumeClaimRetentionPolicy };
}

function retainsAlways(set: KubeObject): boolean {
  const { whenDeleted, whenScaled } = policyOf(set);
  return whenDeleted === 'Retain' && whenScaled === 'Retain';
}

/** The claim is about to go with an earlier Pod of this name: a new Pod must wait for that. */
export function isStaleClaim(set: KubeObject, podName: string, claim: KubeObject): boolean {
  return (
    policyOf(set).whenScaled === 'Delete' &&
    (claim.metadata.ownerReferences ?? []).some(({ kind, name }) => kind === 'Pod' && name === podName)
  );
}
