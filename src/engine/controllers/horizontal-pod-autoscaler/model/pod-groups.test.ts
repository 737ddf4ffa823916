import { expect, test } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { formatTime } from '../../../../kube/time.ts';
import { groupPods } from './pod-groups.ts';
import { NOW } from './testing-pods.ts';

const SECOND = 1000;
const at = (secondsAgo: number): string => formatTime(new Date(NOW - secondsAgo * SECOND));

/** Started and changed its readiness so many seconds ago. */
function pod(
  started: number | undefined,
  changed: number | undefined,
  ready: 'True' | 'False',
  phase = 'Running',
  metadata: Json = {},
): KubeObject {
  const conditions = changed === undefined ? [] : [{ type: 'Ready', status: ready, lastTransitionTime: at(changed) }];
  const startTime = started === undefined ? {} : { startTime: at(started) };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', ...metadata }, status: { phase, ...startTime, conditions } };
}

interface Case {
  pod: KubeObject;
  /** Seconds since it was measured, and over how many; absent: never. */
  metric?: [age: number, window: number];
  resource?: string;
  group: 'ready' | 'unready' | 'missing' | 'ignored';
}

test.each<[string, Case]>([
  ['memory counts whatever the Pod says', { pod: pod(0, undefined, 'False'), metric: [0, 60], resource: 'memory', group: 'ready' }],
  ['a Pod without the condition', { pod: pod(0, undefined, 'False'), metric: [0, 60], group: 'unready' }],
  ['a Pod that never started', { pod: pod(undefined, 60, 'True'), metric: [0, 60], group: 'unready' }],
  ['a young Pod measured since it is ready', { pod: pod(60, 30, 'True'), metric: [0, 30], group: 'ready' }],
  ['a young Pod measured before it was ready', { pod: pod(60, 30, 'True'), metric: [0, 60], group: 'unready' }],
  ['a young Pod that is not ready', { pod: pod(60, 54, 'False'), metric: [0, 1], group: 'unready' }],
  ['an old Pod with an old metric', { pod: pod(600, 600, 'True'), metric: [120, 60], group: 'ready' }],
  ['an old Pod that was ready once', { pod: pod(600, 540, 'False'), metric: [0, 60], group: 'ready' }],
  ['an old Pod that was never ready', { pod: pod(600, 590, 'False'), metric: [0, 60], group: 'unready' }],
  ['nothing known', { pod: pod(600, 600, 'True'), group: 'missing' }],
  ['pending', { pod: pod(undefined, undefined, 'False', 'Pending'), metric: [0, 60], group: 'unready' }],
  ['failed', { pod: pod(600, 600, 'True', 'Failed'), metric: [0, 60], group: 'ignored' }],
  ['deleted', { pod: pod(600, 600, 'True', 'Running', { deletionTimestamp: at(0) }), metric: [0, 60], group: 'ignored' }],
])('%s', (_name, { pod: one, metric, resource = 'cpu', group }) => {
  const metrics = new Map(metric ? [['a', { value: 1, atMs: NOW - metric[0] * SECOND, windowMs: metric[1] * SECOND }]] : []);
  const { ready, unready, missing, ignored } = groupPods([one], metrics, resource, NOW);
  const found = { ready: ready === 1, unready: unready.includes('a'), missing: missing.includes('a'), ignored: ignored.includes('a') };
  expect(Object.entries(found).flatMap(([name, is]) => (is ? [name] : []))).toEqual([group]);
});
