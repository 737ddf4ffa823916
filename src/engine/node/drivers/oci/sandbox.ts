import { spawn } from 'node:child_process';
import { lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import type { Cgroups } from '../cgroups/cgroups.ts';
import type { SandboxSpec } from '../driver.ts';
import type { PodPlace } from './container-places.ts';
import { mountCalls } from './mount-calls.ts';

/** As in other runtimes: what all processes of a Pod may hold in /dev/shm together, unless it mounts a volume there. */
const SHARED_MEMORY_SIZE = '65536k';
const MS_NOSUID = 2;
const MS_NODEV = 4;
const MS_NOEXEC = 8;

/** What a group of processes weighs that says nothing, in the newer version of cgroups; in the older it is less. */
const USUAL_SHARES = 2600;
const SHARES_PER_CORE = 1024;

/**
 * Makes what the containers of a Pod have in common: a cgroup with the sum of their limits, /dev/shm, and a namespace for queues. All Pods
 * together weigh as much as the cores of the machine, as the kubelet has it: else a busy program beside them counts as much as all of them.
 */
export async function makeSandbox(place: PodPlace, { limits }: SandboxSpec, cgroups: Cgroups): Promise<void> {
  await mkdir(place.sharedMemory, { recursive: true, mode: 0o755 });
  await cgroups.create(dirname(place.cgroup), { cpuShares: Math.max(USUAL_SHARES, availableParallelism() * SHARES_PER_CORE) });
  await Promise.all([cgroups.create(place.cgroup, limits), mountSharedMemory(place.sharedMemory), holdIpcNamespace(place.ipcNamespace)]);
}

export async function unmakeSandbox(place: PodPlace, cgroups: Cgroups): Promise<void> {
  await cgroups.kill(place.cgroup);
  await cgroups.remove(place.cgroup);
  const { unmount } = await mountCalls();
  await unmount(place.sharedMemory);
  await unmount(place.ipcNamespace);
  await rm(place.folder, { recursive: true, force: true });
}

async function mountSharedMemory(target: string): Promise<void> {
  if (await isMounted(target)) return;
  const { mount } = await mountCalls();
  const data = `mode=1777,size=${SHARED_MEMORY_SIZE}`;
  await mount({ source: 'shm', target, type: 'tmpfs', flags: MS_NOSUID | MS_NODEV | MS_NOEXEC, data });
}

/** A namespace lives for as long as its file is mounted somewhere: no process has to hold it. */
async function holdIpcNamespace(file: string): Promise<void> {
  if (await isMounted(file)) return;
  await writeFile(file, '');
  const exitCode = await new Promise<number>((resolve) => {
    const child = spawn('unshare', [`--ipc=${file}`, 'true'], { stdio: 'ignore' });
    child.on('error', () => resolve(-1));
    child.on('close', (code) => resolve(code ?? -1));
  });
  // Without, each container has a namespace of its own: less shared than Kubernetes promises, and nothing less contained.
  if (exitCode !== 0) await rm(file, { force: true });
}

/** What is mounted is on another device than the folder it is in. */
async function isMounted(path: string): Promise<boolean> {
  const [own, folder] = await Promise.all([lstat(path).catch(() => undefined), lstat(dirname(path))]);
  return own !== undefined && own.dev !== folder.dev;
}
