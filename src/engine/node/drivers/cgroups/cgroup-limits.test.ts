import { expect, test } from 'vitest';
import { cpuQuotaMicroseconds, cpuWeight, limitWrites } from './cgroup-limits.ts';

test.each([
  ['half a core', 500, 50_000],
  ['two cores', 2000, 200_000],
  ['one thousandth, raised to what the kernel takes', 1, 1000],
])('cpuQuotaMicroseconds of %s', (_, millis, expected) => {
  expect(cpuQuotaMicroseconds(millis)).toBe(expected);
});

test.each([
  ['the least', 2, 1],
  ['one core', 1024, 39],
  ['the most', 262_144, 10_000],
  ['less than the least', 0, 1],
])('cpuWeight of %s', (_, shares, expected) => {
  expect(cpuWeight(shares)).toBe(expected);
});

test('limitWrites sets swap equal to memory, so that there is none, on v1', () => {
  const writes = limitWrites('v1', { memoryBytes: 1 << 20, pids: 10 });
  expect(writes.map(({ file, value }) => `${file}=${value}`)).toEqual([
    'memory.limit_in_bytes=1048576',
    'memory.memsw.limit_in_bytes=1048576',
    'memory.limit_in_bytes=1048576',
    'pids.max=10',
  ]);
});

test('limitWrites writes all limits into one tree, on v2', () => {
  const writes = limitWrites('v2', { cpuShares: 1024, cpuMillis: 250, memoryBytes: 4096, pids: 7 });
  expect(writes.map(({ controller, file, value }) => `${controller}/${file}=${value}`)).toEqual([
    'unified/cpu.idle=0',
    'unified/cpu.weight=39',
    'unified/cpu.max=25000 100000',
    'unified/memory.max=4096',
    'unified/memory.swap.max=0',
    'unified/pids.max=7',
  ]);
});

test.each([
  ['v1', 'cpu.shares'],
  ['v2', 'cpu.weight'],
] as const)('limitWrites ends that a cgroup gives way before it sets shares, which the kernel would refuse, on %s', (version, file) => {
  expect(limitWrites(version, { cpuShares: 10 }).map((write) => write.file)).toEqual(['cpu.idle', file]);
});

test.each(['v1', 'v2'] as const)('limitWrites limits processes alone, when nothing else is limited, on %s', (version) => {
  expect(limitWrites(version, { pids: 5 }).map(({ file }) => file)).toEqual(['pids.max']);
});
