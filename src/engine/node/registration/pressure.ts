import type { MachineState } from './machine-facts.ts';

export interface Pressure {
  memory: boolean;
  disk: boolean;
  processes: boolean;
}

export const NO_PRESSURE: Pressure = { memory: false, disk: false, processes: false };

const GIB = 1024 ** 3;
/** A kubelet's own limit for memory; for disks its share, but not more than what a machine of a developer can well miss. */
const MEMORY_BYTES = 100 * 1024 ** 2;
const DISK_SHARE = 0.1;
const DISK_BYTES = 2 * GIB;
const INODE_SHARE = 0.05;
const PROCESS_SHARE = 0.9;
/** It has to be this much better before a pressure is over, so that a condition does not flutter. */
const RELIEF = 1.25;

export function pressureOf(state: MachineState, before: Pressure): Pressure {
  const { disk, memoryAvailableBytes, processes } = state;
  const low = (value: number, limit: number, was: boolean) => value < (was ? limit * RELIEF : limit);
  const diskLimit = Math.min(disk.totalBytes * DISK_SHARE, DISK_BYTES);
  const inodesLow = disk.inodes > 0 && low(disk.freeInodes, disk.inodes * INODE_SHARE, before.disk);
  return {
    memory: low(memoryAvailableBytes, MEMORY_BYTES, before.memory),
    disk: low(disk.freeBytes, diskLimit, before.disk) || inodesLow,
    processes: processes.running > processes.most * PROCESS_SHARE,
  };
}

export interface Evictable {
  uid: string;
  priority: number;
  qosClass: string;
  critical: boolean;
  startedAt: number;
}

const QOS_ORDER = ['BestEffort', 'Burstable', 'Guaranteed'];

/** Who has to go first: the least important, then who was promised least, then the youngest. */
export function evictionOrder(pods: readonly Evictable[]): Evictable[] {
  return pods
    .filter(({ critical }) => !critical)
    .toSorted(
      (a, b) => a.priority - b.priority || QOS_ORDER.indexOf(a.qosClass) - QOS_ORDER.indexOf(b.qosClass) || b.startedAt - a.startedAt,
    );
}
