import koffi from 'koffi';
import { mountsUnder } from './mount-table.ts';

/** The part of mount(2) that volumes need. Node has no call for it; loaded only where there is root and a volume that is mounted. */
const libc = koffi.load(null);
const mountCall = libc.func('int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)');
const unmountCall = libc.func('int umount2(const char *target, int flags)');

const MS_NOSUID = 0x2;
const MS_NODEV = 0x4;
const MS_BIND = 0x1000;
const MS_SLAVE = 0x80000;
const MNT_DETACH = 2;
const UMOUNT_NOFOLLOW = 8;

/** A file system in memory; secrets on it must not be written to a swap device, where the kernel can promise that. */
export function mountTmpfs(target: string, options: { mode: string; gid?: number; size?: number }): void {
  const data = Object.entries(options)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
  const flags = MS_NOSUID | MS_NODEV;
  if (mountCall('tmpfs', target, 'tmpfs', flags, `${data},noswap`) === 0) return;
  // Kernels before 6.4 do not know noswap.
  check(mountCall('tmpfs', target, 'tmpfs', flags, data), 'mount a tmpfs at', target);
}

/** Makes the file behind an open handle appear at a path of ours. */
export function bindHandle(fd: number, target: string): void {
  check(mountCall(`/proc/self/fd/${fd}`, target, null, MS_BIND, null), 'bind a volume at', target);
  // Unmounting ours must not unmount what is mounted below the original.
  check(mountCall(null, target, null, MS_SLAVE, null), 'separate the mount at', target);
}

/** In a thread of its own: freeing a large tmpfs takes long. What was not unmounted shows in `mountsUnder`. */
export function unmount(target: string): Promise<void> {
  return new Promise((resolve) => unmountCall.async(target, MNT_DETACH | UMOUNT_NOFOLLOW, () => resolve()));
}

/** Unmounts all that is mounted at or below the paths, the innermost first. @throws Error when something stays */
export async function unmountUnder(paths: readonly string[]): Promise<void> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const targets = await mountsUnder(paths);
    if (targets.length === 0) return;
    for (const target of targets.toReversed()) await unmount(target);
  }
  const [left] = await mountsUnder(paths);
  if (left !== undefined) throw new Error(`Cannot unmount "${left}": the kernel refuses; see who uses it and unmount it by hand`);
}

function check(result: number, what: string, target: string): void {
  if (result === 0) return;
  const code = koffi.errno();
  const [name = `error ${code}`] = Object.entries(koffi.os.errno).find(([, value]) => value === code) ?? [];
  throw new Error(`Cannot ${what} "${target}": the kernel answers ${name}; see whether this node runs as root with CAP_SYS_ADMIN`);
}
