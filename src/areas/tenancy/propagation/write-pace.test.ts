import { expect, test } from 'vitest';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { WritePace } from './write-pace.ts';

const source = (resourceVersion: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { uid: 'u', resourceVersion } });

test('a copy that somebody else keeps changing, is put right at once and then ever more seldom', async () => {
  const clock = new FakeClock();
  const pace = new WritePace(clock);
  const waits: number[] = [];
  for (let i = 0; i < 12; i++) {
    const wait = pace.wait('b/m', source('1'));
    waits.push(Math.round(wait));
    await clock.advance(wait);
    pace.written('b/m', source('1'));
  }
  expect(waits.slice(0, 2)).toEqual([0, 0]);
  expect(waits[2]).toBeGreaterThan(200);
  expect(waits[4]).toBeGreaterThan(waits[2]);
  expect(Math.max(...waits)).toBeLessThanOrEqual(11_000);
});

test('a copy that is refused, waits; a new state of its source, does not', () => {
  const pace = new WritePace(new FakeClock());
  expect(pace.failed('b/m', source('1'))).toBeGreaterThan(200);
  expect(pace.wait('b/m', source('1'))).toBeGreaterThan(200);
  expect(pace.wait('b/m', source('2'))).toBe(0);
  expect(pace.wait('c/m', source('1'))).toBe(0);
  pace.forget('b/m');
  expect(pace.wait('b/m', source('1'))).toBe(0);
});
