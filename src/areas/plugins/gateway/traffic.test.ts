import { expect, test } from 'vitest';
import { Traffic } from './traffic.ts';

test('requests count from when the routes changed, and those under way stay counted', () => {
  const traffic = new Traffic();
  traffic.follow('a', 1);
  const before = traffic.begin('a', '1.0.0');
  traffic.begin('a', '1.0.0').ended(true, 5);
  traffic.follow('a', 2);
  expect(traffic.of('a')).toEqual({ revision: 2, versions: { '1.0.0': { inFlight: 1, requests: 0, errors: 0, p99Ms: 0 } } });
  before.ended(true, 10);
  traffic.begin('a', '1.1.0').ended(false, 10);
  expect(traffic.of('a').versions).toMatchObject({ '1.1.0': { inFlight: 0, requests: 1, errors: 0 } });
  expect(traffic.of('a').versions['1.0.0']).toBeUndefined();
});

test('the p99 is within a tenth of what one in a hundred takes longer than', () => {
  const traffic = new Traffic();
  for (let ms = 1; ms <= 1_000; ms++) traffic.begin('a', '1').ended(false, ms);
  const { p99Ms } = traffic.of('a').versions['1'];
  expect(p99Ms).toBeGreaterThanOrEqual(990);
  expect(p99Ms).toBeLessThan(1_100);
});

test('an installation that is gone is forgotten once nothing is under way', () => {
  const traffic = new Traffic();
  const under = traffic.begin('a', '1');
  traffic.forget('a');
  expect(traffic.inFlight).toBe(1);
  under.ended(false, 1);
  traffic.forget('a');
  expect(traffic.inFlight).toBe(0);
});
