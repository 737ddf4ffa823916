import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { replicaStatus } from './status.ts';

const NOW = Date.parse('2026-01-01T00:01:00Z');
const aSet = (status?: object): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 's', generation: 3 },
  spec: { replicas: 2, minReadySeconds: 30, template: { metadata: { labels: { a: '1', b: '2' } } } },
  status,
});
const aPod = (labels: Record<string, string>, readySince?: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', labels },
  status: { conditions: readySince ? [{ type: 'Ready', status: 'True', lastTransitionTime: readySince }] : [] },
});

test('replicaStatus counts labels, readiness and minReadySeconds', () => {
  const active = [aPod({ a: '1' }), aPod({ a: '1', b: '2', c: '3' }, '2026-01-01T00:00:59Z'), aPod({ a: '1' }, '2026-01-01T00:00:30Z')];
  expect(replicaStatus(aSet(), { active, terminating: 1 }, NOW)).toMatchObject({
    replicas: 3,
    fullyLabeledReplicas: 1,
    readyReplicas: 2,
    availableReplicas: 1,
    terminatingReplicas: 1,
    observedGeneration: 3,
  });
});

test('a failure is kept with its first words until there is none', () => {
  const first = replicaStatus(aSet(), { active: [], failure: 'first' }, NOW);
  const second = replicaStatus(aSet(first), { active: [], failure: 'second' }, NOW + 5000);
  expect(second.conditions).toEqual([
    { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'first', lastTransitionTime: '2026-01-01T00:01:00Z' },
  ]);
  expect(replicaStatus(aSet(second), { active: [] }, NOW).conditions).toBeUndefined();
});
