import type { PersistentVolume, PersistentVolumeClaim, StorageClass as CoreStorageClass } from './volume-objects.ts';
import { labelSelectorMatcher } from './label-selector.ts';
import { nodeSelectorMatcher, type SelectableNode } from './node-selector.ts';
import { Quantity } from './quantity.ts';

/** Annotations by which scheduler, provisioners and the volume controller speak to each other. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
export const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

/** A class with this provisioner has hand-made volumes only. */
export const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

export function storageClassOf(object: {
  metadata: { annotations?: Record<string, string> };
  spec?: { storageClassName?: string };
}): string {
  return object.metadata.annotations?.[CLASS_ANNOTATION] ?? object.spec?.storageClassName ?? '';
}

/** Neither a class nor, with an empty name, none: the default one is meant. */
export function namesNoClass({ metadata, spec }: Parameters<typeof storageClassOf>[0]): boolean {
  return metadata.annotations?.[CLASS_ANNOTATION] === undefined && spec?.storageClassName === undefined;
}

/** The claim waits for its first Pod before it gets a volume. */
export function waitsForConsumer(storageClass: CoreStorageClass | undefined): boolean {
  return storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
}

export function isFullyBound(claim: PersistentVolumeClaim): boolean {
  return Boolean(claim.spec?.volumeName) && claim.metadata.annotations?.[BIND_COMPLETED] !== undefined;
}

/** Whether the node reaches the volume. */
export function reaches(node: SelectableNode, volume: PersistentVolume): boolean {
  const required = volume.spec?.nodeAffinity?.required;
  return required === undefined || nodeSelectorMatcher(required)(node);
}

export function belongsTo(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const reference = volume.spec?.claimRef;
  if (!reference) return false;
  if (reference.name !== claim.metadata.name || reference.namespace !== claim.metadata.namespace) return false;
  return !reference.uid || reference.uid === claim.metadata.uid;
}

/** Whether a free volume, or one kept for the claim, is what the claim asks for. */
export function satisfies(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  if (volume.metadata.deletionTimestamp !== undefined) return false;
  if (volume.spec?.claimRef ? !belongsTo(volume, claim) : (volume.status?.phase ?? 'Available') !== 'Available') return false;
  if (storageClassOf(volume) !== storageClassOf(claim)) return false;
  if ((volume.spec?.volumeMode ?? 'Filesystem') !== (claim.spec?.volumeMode ?? 'Filesystem')) return false;
  const modes: readonly string[] = volume.spec?.accessModes ?? [];
  if (!(claim.spec?.accessModes ?? []).every((mode) => modes.includes(mode))) return false;
  if (capacityOf(volume).compare(requestOf(claim)) < 0) return false;
  return claim.spec?.selector === undefined || labelSelectorMatcher(claim.spec.selector).matches(volume.metadata.labels);
}

/** The volume kept for the claim, else the smallest that satisfies it; only those the node reaches, when one is given. */
export function findVolume(
  claim: PersistentVolumeClaim,
  volumes: Iterable<PersistentVolume>,
  options: { node?: SelectableNode; excluded?: ReadonlySet<string> } = {},
): PersistentVolume | undefined {
  let smallest: PersistentVolume | undefined;
  for (const volume of volumes) {
    if (options.excluded?.has(volume.metadata.name!) || !satisfies(volume, claim)) continue;
    if (options.node && !reaches(options.node, volume)) continue;
    if (volume.spec?.claimRef) return volume;
    if (!smallest || capacityOf(volume).compare(capacityOf(smallest)) < 0) smallest = volume;
  }
  return smallest;
}

function capacityOf(volume: PersistentVolume): Quantity {
  return Quantity.parse(volume.spec?.capacity?.storage ?? '0');
}

export function requestOf(claim: PersistentVolumeClaim): Quantity {
  return Quantity.parse(claim.spec?.resources?.requests?.storage ?? '0');
}
