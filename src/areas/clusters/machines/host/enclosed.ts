import { basename, dirname, relative, resolve } from 'node:path';
import { sharedLibraries } from '../image/system-files.ts';
import type { Boot, Command } from './backend.ts';
import { asItsUser, inItsNetwork } from './confined.ts';

export interface Enclosure {
  bwrap: string;
  setpriv: string;
  /** Files of the host that it reads besides what it is loaded from; libraries among them bring their own. */
  system?: readonly string[];
  /** Files of the image that it reads, by paths that begin in its folder. */
  shared: readonly string[];
  /** Bytes that it may have in /dev/shm: a guest's memory is a file there. */
  memoryBytes: number;
  /** Beyond what every machine needs. */
  devices?: readonly string[];
  /** Whoever is in it may open these. */
  group?: number;
  command: readonly [program: string, ...args: string[]];
}

/** With these rights bubblewrap's child becomes the user, and enters its folder before that. */
const TO_BECOME_A_USER = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP', 'CAP_DAC_READ_SEARCH'];
const DEVICES = ['/dev/null', '/dev/urandom', '/dev/net/tun'];

/**
 * Leads the group and ends last. Bubblewrap and all that is in there end with it, and it does not end with us, as bubblewrap itself would. A
 * request to end is for the program alone.
 */
export const LEADER = 'trap "" TERM; "$@"; exit $?';

/**
 * A program that can do on the host whatever its guest wants, or may be made to, where there is nothing: no processes but its own, no files but its
 * folder, the image, and what it is loaded from. It is a user that nobody else is, in the namespace of its tap.
 */
export async function enclosed(boot: Boot, enclosure: Enclosure): Promise<Command> {
  const { bwrap, setpriv, system = [], group, command } = enclosure;
  const programs = [command[0], setpriv];
  const loaded = await sharedLibraries(...programs, ...system.filter((path) => path.endsWith('.so')));
  const view = viewOf(boot.folder, { ...enclosure, system: [...new Set([...programs, ...system, ...loaded])] });
  const { program, args } = inItsNetwork(boot, [bwrap, ...view, '--', ...asItsUser(setpriv, boot.user, command, group)]);
  return { program: '/bin/sh', args: ['-c', LEADER, 'sh', program, ...args] };
}

/** Bubblewrap's options. */
export function viewOf(
  folder: string,
  { system, shared, memoryBytes, devices = [] }: Pick<Enclosure, 'shared' | 'memoryBytes' | 'devices'> & { system: readonly string[] },
): string[] {
  const opened = [...DEVICES, ...devices];
  const own = `/machines/${basename(folder)}`;
  // Where a path that begins in its folder leads to, when nothing is above.
  const places = shared.map((source) => ({ source, path: resolve(own, relative(folder, source)) }));
  return [
    ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', '--die-with-parent'],
    ['--cap-drop', 'ALL', ...TO_BECOME_A_USER.flatMap((name) => ['--cap-add', name])],
    parentsOf([...system, ...places.map(({ path }) => path), ...opened, own]).flatMap((path) => ['--dir', path]),
    system.flatMap((path) => ['--ro-bind', path, path]),
    places.flatMap(({ source, path }) => ['--ro-bind', source, path]),
    opened.flatMap((path) => ['--dev-bind-try', path, path]),
    ['--perms', '1777', '--size', String(memoryBytes), '--tmpfs', '/dev/shm', '--proc', '/proc'],
    ['--bind', folder, own],
    // What is left of the root is memory, which nobody counts.
    ['--remount-ro', '/', '--chdir', own],
  ].flat();
}

/** What bubblewrap makes by itself on its way to a mount would be closed to others than root. */
export function parentsOf(paths: readonly string[]): string[] {
  const parents = new Set<string>();
  for (const path of paths) {
    for (let parent = dirname(path); parent !== '/'; parent = dirname(parent)) parents.add(parent);
  }
  return [...parents].toSorted((a, b) => a.length - b.length);
}
