import { expect, test } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { nextProgressCheck, pausedConditions, rolloutStatus } from './progress.ts';

const NOW = Date.parse('2026-01-01T00:10:00Z');
const progressing = (reason: string, lastUpdateTime: string, status = 'True'): Json => ({
  type: 'Progressing',
  status,
  reason,
  lastUpdateTime,
});

function aDeployment(status: Json, spec: Json = {}): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd', generation: 2 },
    spec: {
      replicas: 2,
      progressDeadlineSeconds: 60,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      ...spec,
    },
    status,
  };
}

function aSet(available: number, conditions?: Json[]): KubeObject {
  const status = { replicas: 2, readyReplicas: available, availableReplicas: available, conditions };
  return { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'd-1' }, spec: { replicas: 2 }, status };
}

const seen = { replicas: 2, updatedReplicas: 2, observedGeneration: 2 };

test.each<[string, Json, KubeObject, string]>([
  ['complete', { ...seen, conditions: [progressing('ReplicaSetUpdated', '2026-01-01T00:00:00Z')] }, aSet(2), 'True NewReplicaSetAvailable'],
  ['moving', { ...seen, conditions: [progressing('NewReplicaSetCreated', '2026-01-01T00:00:00Z')] }, aSet(1), 'True ReplicaSetUpdated'],
  ['late', { ...seen, conditions: [progressing('ReplicaSetUpdated', '2026-01-01T00:08:00Z')] }, aSet(0), 'False ProgressDeadlineExceeded'],
  ['in time', { ...seen, conditions: [progressing('ReplicaSetUpdated', '2026-01-01T00:09:30Z')] }, aSet(0), 'True ReplicaSetUpdated'],
  [
    'done before',
    { ...seen, conditions: [progressing('NewReplicaSetAvailable', '2026-01-01T00:00:00Z')] },
    aSet(1),
    'True NewReplicaSetAvailable',
  ],
])('Progressing of a rollout that is %s', (_name, status, set, expected) => {
  const { conditions } = rolloutStatus(aDeployment(status), set, [], NOW);
  const found = conditions.find(({ type }: Json) => type === 'Progressing');
  expect(`${found.status} ${found.reason}`).toBe(expected);
});

test('a ReplicaFailure of a set is the Deployment’s, as long as the set has it', () => {
  const failure = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'quota' };
  const first = rolloutStatus(aDeployment(seen), aSet(0, [failure]), [], NOW);
  expect(first.conditions).toContainEqual(expect.objectContaining(failure));
  const second = rolloutStatus(aDeployment(first), aSet(0), [], NOW);
  expect(second.conditions.map(({ type }: Json) => type)).not.toContain('ReplicaFailure');
});

test('pausing and resuming reset the deadline', () => {
  const paused = pausedConditions(aDeployment({ conditions: [progressing('ReplicaSetUpdated', 'x')] }, { paused: true }), NOW)!;
  expect(paused).toMatchObject([{ type: 'Progressing', status: 'Unknown', reason: 'DeploymentPaused' }]);
  expect(pausedConditions(aDeployment({ conditions: paused }), NOW)).toMatchObject([{ reason: 'DeploymentResumed' }]);
  const late = { conditions: [progressing('ProgressDeadlineExceeded', 'x', 'False')] };
  expect(pausedConditions(aDeployment(late, { paused: true }), NOW)).toBeUndefined();
});

test('nextProgressCheck waits for the deadline, and not when it does not matter', () => {
  const running = { ...seen, conditions: [progressing('ReplicaSetUpdated', '2026-01-01T00:09:30Z')] };
  expect(nextProgressCheck(aDeployment(running), running, NOW)).toBe(31_000);
  expect(nextProgressCheck(aDeployment(running, { progressDeadlineSeconds: 2147483647 }), running, NOW)).toBeUndefined();
  expect(nextProgressCheck(aDeployment(running), { ...running, availableReplicas: 2 }, NOW)).toBeUndefined();
});
