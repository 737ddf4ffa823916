import { CPU_PERIOD_MICROSECONDS, cpuQuotaMicroseconds } from '../../cgroups/cgroup-limits.ts';
import type { ResourceLimits } from '../../driver.ts';
import type { LinuxResources } from './runtime-config.ts';

export interface MachineResources {
  cgroupVersion: 'v1' | 'v2';
  /** Whether the kernel counts swap: without, a limit for it is refused. */
  countsSwap: boolean;
  memoryBytes: number;
  /** Our own; an unprivileged process may not go below it. */
  oomScoreAdj: number;
}

export function containerResources(limits: ResourceLimits, privileged: boolean, machine: MachineResources): LinuxResources {
  const resources: LinuxResources = {
    devices: [{ allow: privileged, access: 'rwm' }],
    pids: { limit: limits.pids },
  };
  const cpu: LinuxResources['cpu'] = {};
  if (limits.cpuShares !== undefined) cpu.shares = Math.max(2, limits.cpuShares);
  if (limits.cpuMillis !== undefined) {
    cpu.quota = cpuQuotaMicroseconds(limits.cpuMillis);
    cpu.period = CPU_PERIOD_MICROSECONDS;
  }
  if (Object.keys(cpu).length > 0) resources.cpu = cpu;
  if (limits.memoryBytes !== undefined) {
    resources.memory = { limit: limits.memoryBytes };
    if (machine.countsSwap) resources.memory.swap = limits.memoryBytes;
    // A container that lost one of its processes for want of memory is rarely of use: as the kubelet does, all of it ends.
    if (machine.cgroupVersion === 'v2') resources.unified = { 'memory.oom.group': '1' };
  }
  return resources;
}

const LEAST_OOM_SCORE = 3;
const MOST_OOM_SCORE = 1000;

/** Who dies first when the whole machine is out of memory: never us before a container, and the smaller container last. */
export function oomScoreAdjustment({ memoryBytes }: ResourceLimits, machine: MachineResources): number {
  const share = memoryBytes === undefined ? 0 : memoryBytes / machine.memoryBytes;
  const score = Math.round(MOST_OOM_SCORE * (1 - share));
  return Math.max(machine.oomScoreAdj, Math.min(MOST_OOM_SCORE, Math.max(LEAST_OOM_SCORE, score)));
}
