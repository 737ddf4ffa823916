import { access, lstat, readFile, readdir } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import type { Cgroups } from '../cgroups/cgroups.ts';
import { boundingCapabilities } from './model/capabilities.ts';
import type { MachineResources } from './model/resources.ts';
import type { DeviceConfig } from './model/runtime-config.ts';

/** What does not change while we run. */
export interface MachineFacts {
  resources: MachineResources;
  capabilities: string[];
}

/** `cgroup`: of all our Pods; made when it is not there yet. */
export async function machineFacts(cgroups: Cgroups, cgroup: string): Promise<MachineFacts> {
  const [status, oomScoreAdj, countsSwap] = await Promise.all([
    readFile('/proc/self/status', 'utf8'),
    readFile('/proc/self/oom_score_adj', 'utf8'),
    cgroups.create(cgroup).then(() => cgroups.countsSwap(cgroup)),
  ]);
  return {
    resources: { cgroupVersion: cgroups.version, countsSwap, memoryBytes: totalmem(), oomScoreAdj: Number(oomScoreAdj) },
    capabilities: boundingCapabilities(status),
  };
}

/** What every container has a fresh one of, or must not have. */
const OWN_DEVICES = new Set(['pts', 'shm', 'mqueue', 'fd', 'console', 'ptmx', 'stdin', 'stdout', 'stderr', '.lxc', '.udev']);
const FILE_TYPE = 0o170000;
const CHARACTER_DEVICE = 0o020000;
const BLOCK_DEVICE = 0o060000;

/** Every device of the machine, for privileged containers. */
export async function machineDevices(folder = '/dev'): Promise<DeviceConfig[]> {
  const devices: DeviceConfig[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (OWN_DEVICES.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) devices.push(...(await machineDevices(path)));
    else if (entry.isCharacterDevice() || entry.isBlockDevice()) devices.push(...(await deviceAt(path)));
  }
  return devices;
}

async function deviceAt(path: string): Promise<DeviceConfig[]> {
  const info = await lstat(path).catch(() => undefined);
  const kind = (info?.mode ?? 0) & FILE_TYPE;
  if (!info || (kind !== CHARACTER_DEVICE && kind !== BLOCK_DEVICE)) return [];
  const { major, minor } = deviceNumbers(info.rdev);
  const type = kind === CHARACTER_DEVICE ? 'c' : 'b';
  return [{ path, type, major, minor, fileMode: info.mode & 0o7777, uid: info.uid, gid: info.gid }];
}

/** As the C library packs them: 12 bits of the major number, 8 and 12 of the minor. */
export function deviceNumbers(rdev: number): { major: number; minor: number } {
  return { major: (rdev >>> 8) & 0xfff, minor: (rdev & 0xff) | ((rdev >>> 12) & 0xfff00) };
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
