import type { KubeObject, ObjectMeta, OwnerReference } from './object.ts';
import { parseApiVersion } from './object.ts';

/** Owner references and finalizers: who an object belongs to, and who has to act before it may go. */

export function controllerOf(object: { metadata: ObjectMeta }): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

export function isControlledBy(object: { metadata: ObjectMeta }, owner: { metadata: ObjectMeta }): boolean {
  const controller = controllerOf(object);
  return controller !== undefined && controller.uid === owner.metadata.uid;
}

/** A reference to an owner that must have been stored (it needs a uid). */
export function ownerReference(owner: KubeObject, options: { controller?: boolean; blockOwnerDeletion?: boolean } = {}): OwnerReference {
  const { name, uid } = owner.metadata;
  if (!name || !uid) throw new Error(`Cannot refer to ${owner.kind} "${name ?? ''}" as an owner: it has no uid; store it first`);
  return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid, ...options };
}

function sameOwner(a: OwnerReference, b: OwnerReference): boolean {
  return parseApiVersion(a.apiVersion).group === parseApiVersion(b.apiVersion).group && a.kind === b.kind && a.name === b.name;
}

/**
 * Makes `owner` the controller of `object`. @returns whether anything changed
 * @throws Error when another controller owns it: two would fight over it
 */
export function setControllerReference(object: { metadata: ObjectMeta }, owner: KubeObject): boolean {
  const reference = ownerReference(owner, { controller: true, blockOwnerDeletion: true });
  const existing = controllerOf(object);
  if (existing && !sameOwner(existing, reference)) {
    const state = `${existing.kind} "${existing.name}" is already its controller`;
    throw new Error(
      `Cannot make ${reference.kind} "${reference.name}" the controller of "${object.metadata.name ?? ''}": ${state}; remove that owner first`,
    );
  }
  return setOwnerReference(object, reference);
}

/** Adds a reference, or brings the one to the same owner up to date. @returns whether anything changed */
export function setOwnerReference(object: { metadata: ObjectMeta }, reference: OwnerReference): boolean {
  const references = (object.metadata.ownerReferences ??= []);
  const index = references.findIndex((candidate) => sameOwner(candidate, reference));
  if (index < 0) {
    references.push(reference);
    return true;
  }
  const current = references[index];
  const same = (Object.keys(reference) as (keyof OwnerReference)[]).every((key) => current[key] === reference[key]);
  if (!same) references[index] = { ...current, ...reference };
  return !same;
}

export function hasFinalizer(object: { metadata: ObjectMeta }, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

/** @returns whether it was added */
export function addFinalizer(object: { metadata: ObjectMeta }, finalizer: string): boolean {
  if (hasFinalizer(object, finalizer)) return false;
  (object.metadata.finalizers ??= []).push(finalizer);
  return true;
}

/** @returns whether it was there */
export function removeFinalizer(object: { metadata: ObjectMeta }, finalizer: string): boolean {
  const { metadata } = object;
  if (!hasFinalizer(object, finalizer)) return false;
  const rest = metadata.finalizers!.filter((name) => name !== finalizer);
  if (rest.length > 0) metadata.finalizers = rest;
  else delete metadata.finalizers;
  return true;
}
