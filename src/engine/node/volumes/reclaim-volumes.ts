import { readdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Client } from '../../../client/client.ts';
import { PersistentVolume } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { hasFinalizer } from '../../../kube/ownership.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import { Controller } from '../../../runtime/controller.ts';
import { Informer } from '../../../runtime/informer/informer.ts';
import { errorCode } from './disk/handles.ts';
import { unfinishedName } from './disk/open-folder.ts';
import { removeTree } from './disk/remove-tree.ts';

/** On a PersistentVolume: its node takes this away when the folder is gone. */
const FOLDER_FINALIZER = 'tenantry.dev/local-volume';
/** While this is there, a claim still uses the volume. */
const PROTECTION = 'kubernetes.io/pv-protection';
const REMOVED = '.removed-';
const BUSY_MS = 2_000;

export interface ReclaimOptions {
  client: Client;
  clock: Clock;
  log: Log;
  /** Where this node keeps the volumes of claims. */
  volumeFolder: string;
  /** Whether a Pod of this node has the folder still mounted. */
  isMounted: (path: string) => boolean;
}

/** Removes the folders of volumes that are to go, and then lets the volumes go. */
export function reclaimVolumes({ client, clock, log, volumeFolder, isMounted }: ReclaimOptions): { stop(): Promise<void> } {
  const ending = new AbortController();
  const volumes = new Informer<KubeObject>({ resource: client.resource<KubeObject>(PersistentVolume), clock, log, transform: slim });
  const controller = new Controller({
    name: 'reclaim-volumes',
    clock,
    log,
    async reconcile(name, { signal }) {
      const volume = volumes.get(name);
      if (!volume || !isToGo(volume, volumeFolder)) return undefined;
      const path: string = volume.spec.local.path;
      // A timer, because Pods that end are no change of the volume.
      if (isMounted(path)) return { afterMs: BUSY_MS };
      // Whoever said Retain wants the files and no longer the object.
      if (volume.spec.persistentVolumeReclaimPolicy !== 'Retain') await removeFolder(path);
      await letGo(volume, signal);
      return undefined;
    },
  });

  const letGo = async ({ metadata }: KubeObject, signal: AbortSignal): Promise<void> => {
    const finalizers = metadata.finalizers!.filter((finalizer) => finalizer !== FOLDER_FINALIZER);
    const patch = { metadata: { uid: metadata.uid, resourceVersion: metadata.resourceVersion, finalizers } };
    try {
      await client.resource(PersistentVolume).patch(metadata.name!, { type: 'merge', patch }, { signal });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  };

  const running = Promise.all([removeRemains(volumeFolder, log), volumes.run(ending.signal)]);
  controller.watch(volumes, ({ type, object }) => (type === 'deleted' ? [] : [object.metadata.name!])).start();
  return {
    async stop() {
      await controller.stop();
      ending.abort();
      await running;
    },
  };
}

export function isToGo(volume: KubeObject, volumeFolder: string): boolean {
  const { metadata, spec } = volume;
  if (metadata.deletionTimestamp === undefined || !hasFinalizer(volume, FOLDER_FINALIZER) || hasFinalizer(volume, PROTECTION)) return false;
  // Only what this node made: its own folder, of the volume's own name.
  return !metadata.name!.startsWith('.') && spec?.local?.path === `${volumeFolder}/${metadata.name}`;
}

/** First out of the way: a volume made again under the same name must not meet half of the old one. */
async function removeFolder(path: string): Promise<void> {
  const aside = join(dirname(path), `${REMOVED}${basename(path)}`);
  await Promise.all([removeTree(aside), removeTree(unfinishedName(path))]);
  try {
    await rename(path, aside);
  } catch (error) {
    // No Pod ever needed it.
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  await removeTree(aside);
}

/** Of an agent that was killed while it removed a folder. */
async function removeRemains(volumeFolder: string, log: Log): Promise<void> {
  for (const name of await readdir(volumeFolder).catch(() => [])) {
    if (!name.startsWith(REMOVED) && !name.startsWith('.removing-')) continue;
    await removeTree(join(volumeFolder, name)).catch((error: unknown) => log.warn('cannot remove the rest of a volume', { name, error }));
  }
}

/** All that is needed of a volume. */
function slim({ apiVersion, kind, metadata, spec }: KubeObject): KubeObject {
  const { name, uid, resourceVersion, deletionTimestamp, finalizers } = metadata;
  const { local, persistentVolumeReclaimPolicy } = spec ?? {};
  return {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion, deletionTimestamp, finalizers },
    spec: { local, persistentVolumeReclaimPolicy },
  };
}
