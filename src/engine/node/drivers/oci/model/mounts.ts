import type { ContainerSpec, Mount } from '../../driver.ts';
import { isOfTheMachine } from '../../model/system-paths.ts';
import type { MountConfig } from './runtime-config.ts';

export interface MountSurroundings {
  /** The folder that all containers of the Pod have as /dev/shm. */
  sharedMemory: string;
  /** For built-in images: what they see of the machine. */
  system: Mount[];
}

/** All mounts in the order in which they are made: the kernel's own file systems, the machine's folders, then the Pod's volumes. */
export function containerMounts(spec: Pick<ContainerSpec, 'mounts' | 'security'>, around: MountSurroundings): MountConfig[] {
  const volumes = [...spec.mounts].sort((a, b) => depth(a.target) - depth(b.target));
  const taken = new Set(volumes.map(({ target }) => cleanPath(target)));
  const kernel = kernelMounts(spec.security.privileged, spec.security.hostIpc, around.sharedMemory);
  const system = around.system.map(bindMount).filter(({ destination }) => !taken.has(destination));
  // The product may be installed below /tmp, or wherever else a volume is mounted: then it is shown on top of that.
  const isCovered = ({ destination }: MountConfig) =>
    !isOfTheMachine(destination) && [...taken].some((target) => destination.startsWith(`${target}/`));
  return [
    ...kernel.filter(({ destination }) => !taken.has(destination)),
    ...system.filter((mount) => !isCovered(mount)),
    ...volumes.map(bindMount),
    ...system.filter(isCovered),
  ];
}

/** How mounts made on the machine later show up inside: as much as the most demanding volume needs. */
export function rootPropagation(mounts: readonly Mount[]): string | undefined {
  if (mounts.some(({ propagation }) => propagation === 'Bidirectional')) return 'rshared';
  return mounts.some(({ propagation }) => propagation === 'HostToContainer') ? 'rslave' : undefined;
}

function kernelMounts(privileged: boolean, hostIpc: boolean, sharedMemory: string): MountConfig[] {
  const access = privileged ? 'rw' : 'ro';
  const closed = ['nosuid', 'noexec', 'nodev'];
  const virtual = (destination: string, type: string, options: string[], source = type): MountConfig => ({
    destination,
    type,
    source,
    options,
  });
  return [
    virtual('/proc', 'proc', closed),
    virtual('/dev', 'tmpfs', ['nosuid', 'strictatime', 'mode=755', 'size=65536k']),
    virtual('/dev/pts', 'devpts', ['nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620', 'gid=5']),
    virtual('/dev/mqueue', 'mqueue', closed),
    virtual('/sys', 'sysfs', [...closed, access]),
    virtual('/sys/fs/cgroup', 'cgroup', [...closed, 'relatime', access]),
    virtual('/dev/shm', 'bind', ['rbind', ...closed, 'rw'], hostIpc ? '/dev/shm' : sharedMemory),
  ];
}

function bindMount({ source, target, readOnly, propagation }: Mount): MountConfig {
  const spread = propagation === 'Bidirectional' ? 'rshared' : propagation === 'HostToContainer' ? 'rslave' : 'rprivate';
  return { destination: cleanPath(target), type: 'bind', source, options: ['rbind', spread, readOnly ? 'ro' : 'rw'] };
}

function cleanPath(path: string): string {
  return `/${path.split('/').filter(Boolean).join('/')}`;
}

function depth(path: string): number {
  return path.split('/').filter(Boolean).length;
}
