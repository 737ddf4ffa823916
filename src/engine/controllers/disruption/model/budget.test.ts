import { expect, test } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { staleIn } from '../stale-disruption.ts';
import { budgetStatus, failedStatus, stillDisrupted } from './budget.ts';

const NOW = Date.parse('2026-01-01T00:10:00Z');
const aBudget = (spec: Json, status: Json = {}): KubeObject => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'b', generation: 4 },
  spec,
  status,
});
const aPod = (name: string, ready = 'True', deletionTimestamp?: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, deletionTimestamp },
  status: { conditions: [{ type: 'Ready', status: ready }] },
});
const three = [aPod('a'), aPod('b'), aPod('c')];

test.each<[string, Json, KubeObject[], number, [number, number, number]]>([
  ['minAvailable', { minAvailable: 2 }, three, 3, [3, 2, 1]],
  ['minAvailable in percent, rounded up', { minAvailable: '50%' }, three, 3, [3, 2, 1]],
  ['maxUnavailable', { maxUnavailable: 1 }, three, 3, [3, 2, 1]],
  ['maxUnavailable in percent, rounded up', { maxUnavailable: '10%' }, three, 3, [3, 2, 1]],
  ['more unavailable than there are', { maxUnavailable: 9 }, three, 3, [3, 0, 3]],
  ['Pods that are not ready or go', { minAvailable: 1 }, [aPod('a'), aPod('b', 'False'), aPod('c', 'True', 'now')], 3, [1, 1, 0]],
  ['nothing expected', { maxUnavailable: 1 }, [], 0, [0, 0, 0]],
])('budgetStatus with %s', (_name, spec, pods, expected, [healthy, desired, allowed]) => {
  const status = budgetStatus(aBudget(spec), pods, expected, {}, NOW);
  expect(status).toMatchObject({ currentHealthy: healthy, desiredHealthy: desired, disruptionsAllowed: allowed, expectedPods: expected });
  const reason = allowed > 0 ? 'SufficientPods' : 'InsufficientPods';
  expect(status.conditions).toMatchObject([
    { type: 'DisruptionAllowed', status: allowed > 0 ? 'True' : 'False', reason, observedGeneration: 4 },
  ]);
});

test('evicted Pods count as gone for two minutes', () => {
  const budget = aBudget(
    { minAvailable: 1 },
    { disruptedPods: { a: '2026-01-01T00:09:30Z', b: '2026-01-01T00:07:00Z', gone: '2026-01-01T00:09:30Z' } },
  );
  const disrupted = stillDisrupted(budget, three, NOW);
  expect(disrupted).toMatchObject({ pods: { a: '2026-01-01T00:09:30Z' }, recheckMs: 90_001 });
  expect(disrupted.notDeleted.map(({ metadata }) => metadata.name)).toEqual(['b']);
  expect(budgetStatus(budget, three, 3, disrupted.pods, NOW)).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 });
});

test('nothing may go when the numbers are unknown', () => {
  const status = failedStatus(aBudget({}, { currentHealthy: 3, disruptionsAllowed: 2, observedGeneration: 3 }), 'why', NOW);
  expect(status).toMatchObject({ currentHealthy: 3, disruptionsAllowed: 0 });
  expect(status.conditions).toMatchObject([{ status: 'False', reason: 'SyncFailed', message: 'why', observedGeneration: 3 }]);
});

test('a mark for disruption is stale after two minutes, unless the Pod goes', () => {
  const marked = (deletionTimestamp?: string): KubeObject => {
    const mark = { type: 'DisruptionTarget', status: 'True', lastTransitionTime: '2026-01-01T00:09:00Z' };
    return { ...aPod('a', 'True', deletionTimestamp), status: { conditions: [mark] } };
  };
  expect(staleIn(marked(), NOW)).toBe(60_000);
  expect(staleIn(marked(), NOW + 120_000)).toBe(0);
  expect(staleIn(marked('now'), NOW)).toBeUndefined();
  expect(staleIn(aPod('a'), NOW)).toBeUndefined();
});
