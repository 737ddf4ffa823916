import { expect, it } from 'vitest';
import type { ClusterPolicy } from '../../../../api/tenantry.dev/v1alpha1/cluster-policy.ts';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { nextExpiry } from './next-expiry.ts';

const HOUR_MS = 3600 * 1000;
const START = '2026-11-15T00:00:00Z';

function aPolicy(...dates: (string | undefined)[]): ClusterPolicy {
  const versions = dates.map((expirationDate, index) => ({ version: `1.${index}`, expirationDate }));
  return { apiVersion: 'tenantry.dev/v1alpha1', kind: 'ClusterPolicy', metadata: { name: 'p' }, spec: { versions } };
}

it('nextExpiry calls when the first version of the future expires, and then for the next', async () => {
  const clock = new FakeClock(START);
  const calls: string[] = [];
  const policies = [aPolicy('2026-11-14T00:00:00Z', '2026-11-15T03:00:00Z', undefined), aPolicy('2026-11-15T01:00:00Z')];
  const expiry = nextExpiry(
    clock,
    () => policies,
    () => calls.push(new Date(clock.now()).toISOString().slice(11, 13)),
  );
  expiry.set();
  await clock.advance(5 * HOUR_MS);
  expect(calls).toEqual(['01', '03']);
  expect(clock.pendingTimers).toBe(0);
});

it('nextExpiry reaches dates that are further away than a timer can be', async () => {
  const clock = new FakeClock(START);
  let isOver = false;
  const expiry = nextExpiry(
    clock,
    () => [aPolicy('2027-11-15T00:00:00Z')],
    () => (isOver = clock.now() >= Date.parse('2027-11-15T00:00:00Z')),
  );
  expiry.set();
  await clock.advance(366 * 24 * HOUR_MS);
  expect(isOver).toBe(true);
});

it('nextExpiry sets no timer when nothing expires', () => {
  const clock = new FakeClock(START);
  nextExpiry(
    clock,
    () => [aPolicy(undefined)],
    () => {},
  ).set();
  expect(clock.pendingTimers).toBe(0);
});
