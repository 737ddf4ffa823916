import { chmod, chown, lstat, mkdir, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { Quantity } from '../../../kube/quantity.ts';
import type { ResourceList } from '../environment/container-resource.ts';
import type { FolderSizes } from './disk/folder-size.ts';
import { isMountPoint } from './disk/mount-table.ts';
import { makeOpenFolder } from './disk/open-folder.ts';
import { memoryVolumeSize } from './model/memory-size.ts';

export interface EmptyDirInput {
  pod: KubeObject;
  volume: Json;
  path: string;
  canMount: boolean;
  allocatable: ResourceList;
  /** Says that what was asked for is not quite what there is. */
  note: (message: string) => void;
}

/** Makes the folder of an emptyDir, or takes the one that is there with all that is in it. */
export async function setUpEmptyDir({ pod, volume, path, canMount, allocatable, note }: EmptyDirInput): Promise<void> {
  const medium: string = volume.emptyDir?.medium ?? '';
  if (medium !== '' && medium !== 'Memory') {
    throw new Error(`Cannot make an emptyDir of medium "${medium}": this node has no huge pages for volumes; use medium Memory or none`);
  }
  const group: number | undefined = pod.spec?.securityContext?.fsGroup;
  await mkdir(dirname(path), { recursive: true, mode: 0o711 });
  if (medium === 'Memory' && canMount) {
    await mkdir(path, { recursive: true });
    if (await isMountPoint(path)) return;
    const size = memoryVolumeSize(pod, volume.emptyDir.sizeLimit, allocatable);
    const { mountTmpfs } = await import('./disk/mounts.ts');
    mountTmpfs(path, { mode: group === undefined ? '0777' : '2777', gid: group, size });
    return;
  }
  if (await lstat(path).catch(() => undefined)) return;
  if (medium === 'Memory') {
    note(
      `Volume "${volume.name}" is an emptyDir of medium Memory, but this node may not mount: it is a folder on disk, and its sizeLimit is enforced by eviction`,
    );
  }
  await makeOpenFolder(path, async (unfinished) => {
    if (group === undefined || !canMount) return;
    await chown(unfinished, -1, group);
    await chmod(unfinished, 0o2777);
  });
}

/** The message of the eviction when the volume is larger than it may be. */
export async function emptyDirOverLimit(volume: Json, path: string, sizes: FolderSizes): Promise<string | undefined> {
  const limit: string | undefined = volume.emptyDir?.sizeLimit;
  if (limit === undefined) return undefined;
  const most = Quantity.parse(limit).value();
  if (most <= 0) return undefined;
  const used = volume.emptyDir.medium === 'Memory' && (await isMountPoint(path)) ? await usedOfFileSystem(path) : await sizes.sizeOf(path);
  return used > most ? `Usage of EmptyDir volume "${volume.name}" exceeds the limit "${limit}". ` : undefined;
}

async function usedOfFileSystem(path: string): Promise<number> {
  const { blocks, bfree, bsize } = await statfs(path);
  return (blocks - bfree) * bsize;
}
