import { expect, it } from 'vitest';
import { planeLimits } from './plane-groups.ts';

const MI = 1024 ** 2;
const NEEDS = { memoryBytes: 4096 * MI, leastMemoryBytes: 768 * MI, pids: 100 };

it.each([
  ['nothing is said: the defaults, and half of the machine', {}, 1, { memoryBytes: 4096 * MI, pids: 100, cpuMillis: 4000 }],
  ['policies say it', { memoryBytes: 2048 * MI, cpuMillis: 1500 }, 1, { memoryBytes: 2048 * MI, pids: 100, cpuMillis: 1500 }],
  ['policies say less than it can be without', { memoryBytes: MI, cpuMillis: 1 }, 1, { memoryBytes: 768 * MI, pids: 100, cpuMillis: 500 }],
  ['three replicas need three times as much', { memoryBytes: MI }, 3, { memoryBytes: 2304 * MI, pids: 300, cpuMillis: 4000 }],
])('planeLimits, %s', (_, bounds, replicas, limits) => {
  expect(planeLimits(NEEDS, bounds, replicas, 8)).toEqual(limits);
});
