import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/volume-objects.ts';

export type VolumePhase = 'Available' | 'Bound' | 'Released';

/** What a volume is, given the claim of the name that it is kept for. */
export function phaseOf({ metadata, spec }: PersistentVolume, claim: PersistentVolumeClaim | undefined): VolumePhase {
  const reference = spec?.claimRef;
  // Kept for a claim by name, which need not exist yet.
  if (!reference?.uid) return 'Available';
  if (!claim || claim.metadata.uid !== reference.uid) return 'Released';
  return claim.spec?.volumeName === metadata.name ? 'Bound' : 'Available';
}
