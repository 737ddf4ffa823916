import type { ResourceLimits } from '../driver.ts';

export const CPU_PERIOD_MICROSECONDS = 100_000;
/** The kernel takes no smaller quota. */
const SMALLEST_QUOTA_MICROSECONDS = 1000;
const SMALLEST_SHARES = 2;
const MOST_SHARES = 262_144;
/** Of those that give way. The kernel takes no shares for them: it has to be 0 first. Older ones do not know it. */
const IDLE_FILE = 'cpu.idle';

/** One value for one file of a controller. `optional`: the kernel may have been built without it. */
export interface CgroupWrite {
  controller: string;
  file: string;
  value: string;
  optional?: boolean;
}

export function cpuQuotaMicroseconds(cpuMillis: number): number {
  return Math.max(SMALLEST_QUOTA_MICROSECONDS, Math.round((cpuMillis * CPU_PERIOD_MICROSECONDS) / 1000));
}

/** Shares (2 to 262144, 1024 is one core) as the weight of cgroup v2 (1 to 10000), the way Kubernetes' runtimes convert them. */
export function cpuWeight(shares: number): number {
  const clamped = Math.min(Math.max(shares, SMALLEST_SHARES), MOST_SHARES);
  return 1 + Math.floor(((clamped - SMALLEST_SHARES) * 9999) / (MOST_SHARES - SMALLEST_SHARES));
}

/** What to write to hold a cgroup to these limits; what is not limited is not written. */
export function limitWrites(version: 'v1' | 'v2', limits: Partial<ResourceLimits>): CgroupWrite[] {
  return version === 'v1' ? writesOfV1(limits) : writesOfV2(limits);
}

function writesOfV1({ cpuShares, cpuMillis, memoryBytes, pids }: Partial<ResourceLimits>): CgroupWrite[] {
  const writes: CgroupWrite[] = [];
  if (cpuShares !== undefined) {
    writes.push({ controller: 'cpu', file: IDLE_FILE, value: '0', optional: true });
    writes.push({ controller: 'cpu', file: 'cpu.shares', value: String(Math.max(SMALLEST_SHARES, cpuShares)) });
  }
  if (cpuMillis !== undefined) {
    writes.push({ controller: 'cpu', file: 'cpu.cfs_period_us', value: String(CPU_PERIOD_MICROSECONDS), optional: true });
    writes.push({ controller: 'cpu', file: 'cpu.cfs_quota_us', value: String(cpuQuotaMicroseconds(cpuMillis)), optional: true });
  }
  if (memoryBytes !== undefined) {
    const memory = (file: string, optional: boolean): CgroupWrite => ({ controller: 'memory', file, value: String(memoryBytes), optional });
    // Memory may never be over memory and swap: depending on what was there before, one or the other has to go first.
    writes.push(memory('memory.limit_in_bytes', true), memory('memory.memsw.limit_in_bytes', true), memory('memory.limit_in_bytes', false));
  }
  if (pids !== undefined) writes.push({ controller: 'pids', file: 'pids.max', value: String(pids) });
  return writes;
}

function writesOfV2({ cpuShares, cpuMillis, memoryBytes, pids }: Partial<ResourceLimits>): CgroupWrite[] {
  const writes: CgroupWrite[] = [];
  const unified = (file: string, value: string | number, optional = false): void =>
    void writes.push({ controller: 'unified', file, value: String(value), optional });
  if (cpuShares !== undefined) {
    unified(IDLE_FILE, 0, true);
    unified('cpu.weight', cpuWeight(cpuShares));
  }
  if (cpuMillis !== undefined) unified('cpu.max', `${cpuQuotaMicroseconds(cpuMillis)} ${CPU_PERIOD_MICROSECONDS}`);
  if (memoryBytes !== undefined) {
    unified('memory.max', memoryBytes);
    unified('memory.swap.max', 0, true);
  }
  if (pids !== undefined) unified('pids.max', pids);
  return writes;
}
