import { describe, expect, it } from 'vitest';
import { containerResources, oomScoreAdjustment, type MachineResources } from './resources.ts';

const MACHINE: MachineResources = { cgroupVersion: 'v1', countsSwap: true, memoryBytes: 1000, oomScoreAdj: 0 };

describe('containerResources', () => {
  it('forbids devices and limits processes, when nothing else is limited', () => {
    expect(containerResources({ pids: 9 }, false, MACHINE)).toEqual({ devices: [{ allow: false, access: 'rwm' }], pids: { limit: 9 } });
  });

  it('gives no swap on top of memory, where the kernel counts it', () => {
    expect(containerResources({ memoryBytes: 50, pids: 9 }, false, MACHINE).memory).toEqual({ limit: 50, swap: 50 });
    expect(containerResources({ memoryBytes: 50, pids: 9 }, false, { ...MACHINE, countsSwap: false }).memory).toEqual({ limit: 50 });
  });

  it('ends all of a container that is out of memory, on v2', () => {
    const { unified } = containerResources({ memoryBytes: 50, pids: 9 }, false, { ...MACHINE, cgroupVersion: 'v2' });
    expect(unified).toEqual({ 'memory.oom.group': '1' });
  });

  it('turns thousandths of a core into a quota', () => {
    expect(containerResources({ cpuShares: 1, cpuMillis: 1500, pids: 9 }, false, MACHINE).cpu).toEqual({
      shares: 2,
      quota: 150_000,
      period: 100_000,
    });
  });

  it('allows every device, when privileged', () => {
    expect(containerResources({ pids: 9 }, true, MACHINE).devices).toEqual([{ allow: true, access: 'rwm' }]);
  });
});

describe('oomScoreAdjustment', () => {
  it.each([
    ['first, without a limit', undefined, 0, 1000],
    ['later, the more it was promised', 400, 0, 600],
    ['last, with all of the machine', 1000, 0, 3],
    ['not before us', 1000, 500, 500],
  ])('lets a container die %s', (_, memoryBytes, oomScoreAdj, expected) => {
    expect(oomScoreAdjustment({ memoryBytes, pids: 1 }, { ...MACHINE, oomScoreAdj })).toBe(expected);
  });
});
