import { readFileSync } from 'node:fs';
import { readFile, statfs } from 'node:fs/promises';
import { arch, availableParallelism, hostname, networkInterfaces, platform, release, totalmem } from 'node:os';

/** What a Node says about its machine and does not change while it runs. */
export interface MachineFacts {
  hostname: string;
  os: string;
  architecture: string;
  cores: number;
  memoryBytes: number;
  kernel: string;
  osImage: string;
  machineId: string;
  bootId: string;
  /** An address that others reach the machine by; loopback when it has none. */
  address: string;
}

const ARCHITECTURES: Record<string, string> = { x64: 'amd64', ia32: '386' };

/** Small files only: `up` reads them at its start. */
export function machineFacts(): MachineFacts {
  const read = (path: string): string => {
    try {
      return readFileSync(path, 'utf8').trim();
    } catch {
      return '';
    }
  };
  return {
    hostname: hostname().toLowerCase(),
    os: platform(),
    architecture: ARCHITECTURES[arch()] ?? arch(),
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    kernel: release(),
    osImage: /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(read('/etc/os-release'))?.[1] ?? platform(),
    machineId: read('/etc/machine-id'),
    bootId: read('/proc/sys/kernel/random/boot_id'),
    address: machineAddress(networkInterfaces()),
  };
}

/** The first address that is not loopback or link-local, IPv4 before IPv6. */
export function machineAddress(interfaces: ReturnType<typeof networkInterfaces>): string {
  const all = Object.values(interfaces).flatMap((addresses) => addresses ?? []);
  const usable = all.filter(({ internal, address }) => !internal && !address.startsWith('169.254.') && !address.startsWith('fe80:'));
  return (usable.find(({ family }) => family === 'IPv4') ?? usable[0])?.address ?? '127.0.0.1';
}

/** What changes: how much is left of what can run out. */
export interface MachineState {
  disk: { totalBytes: number; freeBytes: number; inodes: number; freeInodes: number };
  memoryAvailableBytes: number;
  processes: { running: number; most: number };
}

export async function machineState(folder: string): Promise<MachineState> {
  const [disk, meminfo, load, most] = await Promise.all([
    statfs(folder),
    readFile('/proc/meminfo', 'utf8').catch(() => ''),
    readFile('/proc/loadavg', 'utf8').catch(() => ''),
    readFile('/proc/sys/kernel/pid_max', 'utf8').catch(() => ''),
  ]);
  return {
    disk: {
      totalBytes: disk.blocks * disk.bsize,
      freeBytes: disk.bavail * disk.bsize,
      inodes: disk.files,
      freeInodes: disk.ffree,
    },
    memoryAvailableBytes: Number(/^MemAvailable:\s+(\d+) kB/m.exec(meminfo)?.[1] ?? Infinity) * 1024,
    processes: { running: Number(/\/(\d+) /.exec(load)?.[1] ?? 0), most: Number(most) || Infinity },
  };
}
