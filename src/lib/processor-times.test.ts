import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { processorTimes, wereScarce } from './processor-times.ts';

vi.mock('node:os', async (original) => {
  const os = await original<typeof import('node:os')>();
  return { ...os, cpus: vi.fn(os.cpus) };
});

const folder = mkdtempSync(join(tmpdir(), 'tenantry-processor-times-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'stat');

test.each([
  { what: 'not known', before: undefined, idle: 0, expected: false },
  { what: 'scarce', before: { idle: 50, total: 100 }, idle: 65, expected: true },
  { what: 'enough', before: { idle: 50, total: 100 }, idle: 75, expected: false },
])('with $idle of 200 idle after $before processors are $what', ({ before, idle, expected }) => {
  expect(wereScarce(before, { idle, total: 200 })).toBe(expected);
});

test('processorTimes are those of this machine', () => {
  const { idle, total } = processorTimes();
  expect(total).toBeGreaterThan(idle);
  expect(processorTimes().total).toBeGreaterThanOrEqual(total);
});

test.each([
  { of: 'a machine of today', line: 'cpu  100 20 30 400 50 6 7 8 90 9', expected: { idle: 450, total: 621 } },
  {
    of: 'one that ran for ages',
    line: `cpu  ${'18446744073709551615 '.repeat(9)}18446744073709551615`,
    expected: { idle: 2 ** 65, total: 2 ** 67 },
  },
  { of: 'an old kernel', line: 'cpu  100 20 30 400', expected: { idle: 400, total: 550 } },
])('processorTimes of $of are in the first line: waiting for disks is idle, what hosts take is not', ({ line, expected }) => {
  vi.mocked(cpus).mockClear();
  writeFileSync(file, `${line}\ncpu0 1 1 1 1 1 1 1 1 1 1\n${'intr 1 '.repeat(1000)}`);
  expect(processorTimes(file)).toEqual(expected);
  expect(cpus).not.toHaveBeenCalled();
});

test('processorTimes are those of each processor where nothing tells their sum', () => {
  const times = { idle: 70, user: 10, nice: 5, sys: 10, irq: 5 };
  vi.mocked(cpus).mockReturnValueOnce([1, 2].map(() => ({ model: '', speed: 0, times })));
  expect(processorTimes(join(folder, 'none'))).toEqual({ idle: 140, total: 200 });
});
