import { PersistentVolume as VolumeKind, PersistentVolumeClaim as ClaimKind } from '../../../client/kinds.ts';
import { hasFinalizer } from '../../../kube/ownership.ts';
import { isStatusError } from '../../../kube/status.ts';
import { PROVISIONED_BY } from '../../../kube/volume-matching.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/volume-objects.ts';
import { Controller } from '../../../runtime/controller.ts';
import type { Environment, Running } from '../environment.ts';
import { LOCAL_PROVISIONER } from './local-volume.ts';
import { phaseOf } from './volume-phase.ts';

const PROTECTION = 'kubernetes.io/pv-protection';

/** Volumes say whether they are taken, and go when their claim has gone and they were made for it. Keys are volumes. */
export function volumeController({ client, clock, log, metrics, informers }: Environment): Running {
  const claims = informers.get(ClaimKind);
  const volumes = informers.get(VolumeKind);

  const controller = new Controller({
    name: 'persistent-volume',
    clock,
    log,
    metrics,
    concurrency: 2,
    async reconcile(name, { signal }) {
      const volume = volumes.get(name);
      if (!volume) return;
      const phase = phaseOf(volume, claimOf(volume));
      // The cache may not have heard yet of a claim that was just made.
      if (phase === 'Released' && (await claimExists(volume, signal))) return;
      if (volume.status?.phase !== phase) await writePhase(volume, phase, signal);
      if (volume.metadata.deletionTimestamp !== undefined) {
        if (phase !== 'Bound') await unprotect(volume, signal);
      } else if (phase === 'Released' && isReclaimed(volume)) await remove(volume, signal);
    },
  });

  const claimOf = ({ spec }: PersistentVolume): PersistentVolumeClaim | undefined =>
    spec?.claimRef && claims.find(spec.claimRef.namespace, spec.claimRef.name!);

  const claimExists = async ({ spec }: PersistentVolume, signal: AbortSignal): Promise<boolean> => {
    const { name, namespace, uid } = spec!.claimRef!;
    try {
      return (await client.resource(ClaimKind, namespace).get(name!, { signal })).metadata.uid === uid;
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return false;
      throw error;
    }
  };

  const writePhase = async ({ metadata }: PersistentVolume, phase: string, signal: AbortSignal): Promise<void> => {
    const patch = { metadata: { uid: metadata.uid }, status: { phase } };
    await client.resource(VolumeKind).status.patch(metadata.name!, { type: 'merge', patch }, { signal });
  };

  const unprotect = async ({ metadata }: PersistentVolume, signal: AbortSignal): Promise<void> => {
    if (!hasFinalizer({ metadata }, PROTECTION)) return;
    const finalizers = metadata.finalizers!.filter((finalizer) => finalizer !== PROTECTION);
    const patch = { metadata: { uid: metadata.uid, finalizers } };
    await client.resource(VolumeKind).patch(metadata.name!, { type: 'merge', patch }, { signal }).catch(ignoreGone);
  };

  const remove = async ({ metadata: { name, uid } }: PersistentVolume, signal: AbortSignal): Promise<void> => {
    await client.resource(VolumeKind).delete(name!, { preconditions: { uid }, signal }).catch(ignoreGone);
  };

  return controller
    .watch(volumes)
    .watch(claims, ({ object }) => (object.spec?.volumeName ? [object.spec.volumeName] : []))
    .start();
}

/** Volumes of other makers are theirs to remove. */
function isReclaimed({ metadata, spec }: PersistentVolume): boolean {
  return spec?.persistentVolumeReclaimPolicy === 'Delete' && metadata.annotations?.[PROVISIONED_BY] === LOCAL_PROVISIONER;
}

function ignoreGone(error: unknown): void {
  if (!isStatusError(error, 'NotFound')) throw error;
}
