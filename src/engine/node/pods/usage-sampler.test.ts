import { expect, test } from 'vitest';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { UsageSampler } from './usage-sampler.ts';

function aSampler() {
  const clock = new FakeClock();
  const used = { cpuNanoseconds: 0, memoryBytes: 100 };
  const known = { it: true };
  const sampler = new UsageSampler({
    clock,
    driver: { stats: async () => (known.it ? { ...used, at: new Date(clock.now()) } : undefined) },
    memoryInUse: async () => 5000,
  });
  const sample = () => sampler.container('a', new Date(clock.now() - 4000));
  return { clock, used, known, sampler, sample };
}

test('the first rate is that since the start', async () => {
  const { used, sample } = aSampler();
  used.cpuNanoseconds = 2e9;
  expect(await sample()).toMatchObject({ cpuNanocores: 5e8, windowSeconds: 4, memoryBytes: 100, cpuNanoseconds: 2e9 });
});

test('the next ones are between two questions', async () => {
  const { clock, used, sample } = aSampler();
  await sample();
  await clock.advance(10_000);
  used.cpuNanoseconds = 1e9;
  expect(await sample()).toMatchObject({ cpuNanocores: 1e8, windowSeconds: 10 });
});

test('two questions in a row get the same rate', async () => {
  const { clock, used, sample } = aSampler();
  await sample();
  await clock.advance(10_000);
  used.cpuNanoseconds = 1e9;
  await sample();
  await clock.advance(100);
  used.cpuNanoseconds = 9e9;
  expect(await sample()).toMatchObject({ cpuNanocores: 1e8, windowSeconds: 10 });
});

test('a container that is gone is forgotten', async () => {
  const { clock, known, sampler, sample } = aSampler();
  await sample();
  known.it = false;
  await clock.advance(1000);
  expect(await sample()).toBeDefined();
  sampler.keepOnly(new Set());
  expect(await sample()).toBeUndefined();
});

test('the machine is never busier than it has cores', async () => {
  const { clock, sampler } = aSampler();
  await sampler.node();
  await clock.advance(10_000);
  const { cpuNanocores, memoryBytes } = await sampler.node();
  expect(cpuNanocores).toBeGreaterThanOrEqual(0);
  expect(memoryBytes).toBe(5000);
});
