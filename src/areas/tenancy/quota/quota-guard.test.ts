import { expect, test } from 'vitest';
import { FakeClock } from '../../../lib/clock-fake.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { toResourceList } from '../../../kube/resource-list.ts';
import { Forest } from '../forest/forest.ts';
import { TreeLedger } from './model/tree-ledger.ts';
import { QuotaGuard } from './quota-guard.ts';
import type { RunsInFlight } from './runs-in-flight.ts';
import type { QuotaListener, TreeQuotas } from './tree-quotas.ts';

function aGuard() {
  const ledger = new TreeLedger();
  ledger.setLimit('acme', 'tenant', { hard: toResourceList({ pods: '1' }), countedIn: 'count' });
  let stored: KubeObject | undefined;
  const listeners = new Set<QuotaListener>();
  const tree = {
    ledger,
    counts: { find: () => stored },
    onChange(listener: QuotaListener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const clock = new FakeClock();
  const runs = { ready: () => undefined };
  return {
    clock,
    listeners,
    guard: new QuotaGuard(tree as unknown as TreeQuotas, new Forest(), runs as unknown as RunsInFlight, clock),
    count(used: object | undefined) {
      stored = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'count' }, status: { used } };
      for (const listener of listeners) listener('acme');
    },
  };
}

test('a namespace that nothing limits, is waited for by nobody', () => {
  expect(aGuard().guard.ready('other')).toBeUndefined();
});

test('a write in a namespace whose quota is not counted yet, goes on when it is', async () => {
  const { guard, count, listeners } = aGuard();
  const waiting = guard.ready('acme');
  count(undefined);
  expect(listeners.size).toBe(1);
  count({ pods: '0' });
  await waiting;
  expect(guard.ready('acme')).toBeUndefined();
  expect(listeners.size).toBe(0);
});

test('a write in a namespace whose quota is never counted, is refused', async () => {
  const { guard, clock, listeners } = aGuard();
  const waiting = guard.ready('acme');
  await clock.advance(5000);
  await expect(waiting).rejects.toMatchObject({ code: 503 });
  expect(listeners.size).toBe(0);
});
