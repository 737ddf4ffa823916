import { join } from 'node:path';
import type { Log } from '../../../lib/log.ts';
import { ContainerError, type Mount } from '../drivers/driver.ts';
import { expandSubPath } from '../environment/expansion.ts';
import { errorCode, openHandle } from './disk/handles.ts';
import { isMountPoint } from './disk/mount-table.ts';
import { makeBindTarget, openSubPath, type OpenedPath } from './disk/sub-path.ts';
import { outerFirst } from './model/pod-mounts.ts';
import type { ReadyVolume } from './pod-state.ts';
import type { VolumeUser } from './pod-volumes.ts';

export interface ContainerMountsInput {
  container: VolumeUser;
  env: Record<string, string>;
  /** Undefined for a volume that is not set up. */
  volumeOf: (name: string) => ReadyVolume | undefined;
  /** Where paths inside volumes are bound to, one folder per container. */
  subPathFolder: string;
  canMount: boolean;
  log: Log;
}

type VolumeMount = NonNullable<VolumeUser['volumeMounts']>[number];

/** What a container mounts, outer mounts first. Rejects with a ContainerError (CreateContainerConfigError) in Kubernetes' words. */
export async function containerMounts(input: ContainerMountsInput): Promise<Mount[]> {
  const { container } = input;
  const mounts: Mount[] = [];
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const volume = input.volumeOf(mount.name);
    if (!volume) throw refused(`cannot find volume "${mount.name}" to mount into container "${container.name}"`);
    // Mounts below a volume stay writable: what insists on the contrary is refused.
    if (mount.recursiveReadOnly === 'Enabled') {
      throw refused(`volume "${mount.name}" requested recursive read-only mode, but it is not supported by the runtime`);
    }
    const source = await sourceOf(mount, index, volume, input);
    const target = mount.mountPath.startsWith('/') ? mount.mountPath : `/${mount.mountPath}`;
    mounts.push({ source, target, readOnly: mount.readOnly === true || volume.readOnly, ...propagationOf(mount) });
  }
  return outerFirst(mounts);
}

async function sourceOf(mount: VolumeMount, index: number, volume: ReadyVolume, input: ContainerMountsInput): Promise<string> {
  const { container, log } = input;
  const subPath = subPathOf(mount, input.env);
  const path = await pathOf(volume);
  if (subPath === '') return path;
  let opened: OpenedPath;
  try {
    opened = await openSubPath(path, subPath);
  } catch (error) {
    // The details are for the log only: they tell about the files of the machine.
    log.warn('cannot prepare a subPath', { container: container.name, volume: mount.name, subPath, error });
    throw refused(`failed to prepare subPath for volumeMount "${mount.name}" of container "${container.name}"`);
  }
  try {
    return input.canMount ? await bind(opened, join(input.subPathFolder, container.name, String(index))) : opened.real;
  } finally {
    await opened.close();
  }
}

async function pathOf({ path, locate }: ReadyVolume): Promise<string> {
  if (!locate) return path;
  return locate().catch((error: Error) => {
    throw refused(error.message);
  });
}

function subPathOf(mount: VolumeMount, env: Record<string, string>): string {
  let subPath = mount.subPath ?? '';
  try {
    if (mount.subPathExpr) subPath = expandSubPath(mount.subPathExpr, env);
  } catch (error) {
    throw refused((error as Error).message);
  }
  if (subPath.startsWith('/')) throw refused(`error SubPath \`${subPath}\` must not be an absolute path`);
  if (subPath.split('/').includes('..')) throw refused(`unable to provision SubPath \`${subPath}\`: must not contain '..'`);
  return subPath;
}

/** Pins the file that was checked: whatever becomes of its path, this is what the container gets. */
async function bind(opened: OpenedPath, target: string): Promise<string> {
  const { bindHandle, unmountUnder } = await import('./disk/mounts.ts');
  if (await isMountPoint(target)) {
    if (await isSameFile(opened, target)) return target;
    await unmountUnder([target]);
  }
  await makeBindTarget(target, opened.stats.isDirectory());
  bindHandle(opened.fd, target);
  return target;
}

async function isSameFile({ stats }: OpenedPath, target: string): Promise<boolean> {
  try {
    const bound = await openHandle(target);
    await bound.close();
    return bound.stats.dev === stats.dev && bound.stats.ino === stats.ino;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function propagationOf({ mountPropagation }: VolumeMount): Pick<Mount, 'propagation'> {
  switch (mountPropagation) {
    case undefined:
    case 'None':
      return {};
    case 'HostToContainer':
    case 'Bidirectional':
      return { propagation: mountPropagation };
  }
  throw refused(`invalid MountPropagation mode: "${mountPropagation}"`);
}

function refused(message: string): ContainerError {
  return new ContainerError('CreateContainerConfigError', message);
}
