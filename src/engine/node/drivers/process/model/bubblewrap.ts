import { dirname } from 'node:path';
import type { Mount } from '../../driver.ts';
import { isOfTheMachine } from '../../model/system-paths.ts';
import { isWithin } from './visible-paths.ts';

export interface SandboxPlan {
  bwrap: string;
  hostname: string;
  /** Without root: whom the program believes to be. */
  user?: { uid: number; gid: number };
  hostIpc: boolean;
  system: SystemPath[];
  mounts: Mount[];
  workingDir: string;
  /** Folders of the container's own; without `temporary` nothing but volumes can be written to. */
  temporary?: string;
  sharedMemory: string;
}

/** `folder`: shown at its own place; `link`: as the machine has it (`/bin -> usr/bin`); `hidden`: an empty folder, inside of what is shown. */
export type SystemPath = { kind: 'folder' | 'hidden'; path: string } | { kind: 'link'; path: string; to: string };

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`);

/**
 * Bubblewrap makes the first process of a new process namespace and waits for it; when that one is gone, so is everything inside.
 * It is not told to die with its parent: the parent is the shim, whose death must be seen by the next one.
 *
 * No `--dev`: it would put a second user namespace around the program, which a command that is run in the container later, without
 * root, could not enter.
 */
export function sandboxCommand(plan: SandboxPlan): string[] {
  const { bwrap, hostname, user, hostIpc, mounts, workingDir, temporary, sharedMemory } = plan;
  const inVolume = mounts.some(({ target }) => isWithin(target, workingDir));
  return [
    [bwrap, '--unshare-pid', '--unshare-uts', '--hostname', hostname],
    hostIpc ? [] : ['--unshare-ipc'],
    user === undefined ? [] : ['--unshare-user', '--uid', String(user.uid), '--gid', String(user.gid)],
    ...parentsOf(plan).map((folder) => ['--dir', folder]),
    ...plan.system.map(shown),
    ...devices(sharedMemory),
    ['--proc', '/proc', '--dir', '/run', '--dir', '/var', '--symlink', '/tmp', '/var/tmp'],
    temporary === undefined ? ['--dir', '/tmp'] : ['--bind', temporary, '/tmp'],
    inVolume ? [] : ['--dir', workingDir],
    ...mounts.toSorted((a, b) => a.target.length - b.target.length).map(mounted),
    ...coveredPrograms(plan),
    // What is left of the root is memory, which nobody counts.
    ['--remount-ro', '/', '--'],
  ].flat();
}

/** What bubblewrap makes on its way to a mount would be closed to others than the owner. */
function parentsOf({ system, mounts }: SandboxPlan): string[] {
  const shownFolders = [...system.filter(({ kind }) => kind === 'folder').map(({ path }) => path), ...mounts.map(({ target }) => target)];
  const targets = [...system.map(({ path }) => path), ...mounts.map(({ target }) => target)];
  const parents = new Set(targets.map((path) => dirname(path)));
  return [...parents].filter((parent) => parent !== '/' && !shownFolders.some((folder) => isWithin(folder, parent)));
}

/** The product may be installed below /tmp, or wherever a volume is mounted: it is shown again on top of that. */
function coveredPrograms({ system, mounts, temporary }: SandboxPlan): string[][] {
  const covers = [...(temporary === undefined ? [] : ['/tmp']), ...mounts.map(({ target }) => target)];
  const isCovered = (path: string): boolean => covers.some((folder) => isWithin(folder, path));
  const covered = system.filter(({ kind, path }) => kind === 'folder' && !isOfTheMachine(path) && isCovered(path));
  return covered.map((entry) => ['--dir', dirname(entry.path), ...shown(entry)]);
}

function shown(entry: SystemPath): string[] {
  switch (entry.kind) {
    case 'link':
      return ['--symlink', entry.to, entry.path];
    case 'hidden':
      return ['--tmpfs', entry.path, '--remount-ro', entry.path];
    case 'folder':
      return ['--ro-bind', entry.path, entry.path];
  }
}

function devices(sharedMemory: string): string[][] {
  return [
    ['--dir', '/dev'],
    ...DEVICES.map((path) => ['--dev-bind-try', path, path]),
    ['--symlink', '/proc/self/fd', '/dev/fd'],
    ['--symlink', '/proc/self/fd/0', '/dev/stdin'],
    ['--symlink', '/proc/self/fd/1', '/dev/stdout'],
    ['--symlink', '/proc/self/fd/2', '/dev/stderr'],
    ['--bind', sharedMemory, '/dev/shm'],
  ];
}

function mounted({ source, target, readOnly }: Mount): string[] {
  return [readOnly ? '--ro-bind' : '--bind', source, target];
}
