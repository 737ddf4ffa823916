import { expect, test } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { finishOf, matchingSuccessRule } from './finish.ts';
import { Indexes } from './indexes.ts';
import { INDEX, TRACKING_FINALIZER, viewJob } from './job-view.ts';
import { planPods } from './plan.ts';

const NOW = Date.parse('2026-01-01T00:10:00Z');
const RECORD = { failures: 0 };

function aJob(spec: Json, status: Json = {}): KubeObject {
  const template = { spec: { restartPolicy: spec.restartPolicy ?? 'Never' } };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j' },
    spec: { parallelism: 2, backoffLimit: 6, template, ...spec },
    status,
  };
}

function aPod(name: string, phase: string, more: { index?: number; restarts?: number; leaving?: boolean } = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      uid: name,
      creationTimestamp: '2026-01-01T00:00:00Z',
      deletionTimestamp: more.leaving ? '2026-01-01T00:09:00Z' : undefined,
      finalizers: [TRACKING_FINALIZER],
      annotations: more.index === undefined ? {} : { [INDEX]: String(more.index) },
    },
    spec: { nodeName: 'n' },
    status: { phase, containerStatuses: [{ restartCount: more.restarts ?? 0 }] },
  };
}

const indexed = { completions: 3, completionMode: 'Indexed', parallelism: 3 };

test.each<[string, KubeObject, KubeObject[], object]>([
  ['starts as many as run in parallel', aJob({ completions: 5 }), [], { type: 'create', indexes: [undefined, undefined] }],
  ['starts no more than are left', aJob({ completions: 5 }, { succeeded: 4 }), [], { type: 'create', indexes: [undefined] }],
  ['starts none after a success when completions are open', aJob({}), [aPod('a', 'Succeeded'), aPod('b', 'Running')], { type: 'none' }],
  [
    'starts the free indexes',
    aJob(indexed, { completedIndexes: '1' }),
    [aPod('a', 'Running', { index: 0 })],
    { type: 'create', indexes: [2] },
  ],
  ['replaces a leaving Pod', aJob({ completions: 1 }), [aPod('a', 'Running', { leaving: true })], { type: 'create', indexes: [undefined] }],
  [
    'does not, when only failed ones are replaced',
    aJob({ completions: 1, podReplacementPolicy: 'Failed' }),
    [aPod('a', 'Running', { leaving: true })],
    { type: 'none' },
  ],
])('planPods %s', (_name, job, pods, expected) => {
  expect(planPods(viewJob(job, pods, new Set()), RECORD, NOW)).toEqual(expected);
});

test('planPods deletes what is too much, the youngest phase first, and doubles of an index', () => {
  const many = viewJob(aJob({ completions: 5, parallelism: 1 }), [aPod('a', 'Running'), aPod('b', 'Pending')], new Set());
  expect(planPods(many, RECORD, NOW)).toMatchObject({ type: 'delete', pods: [{ metadata: { name: 'b' } }] });
  const double = viewJob(aJob(indexed), [aPod('a', 'Running', { index: 0 }), aPod('b', 'Pending', { index: 0 })], new Set());
  expect(planPods(double, RECORD, NOW)).toMatchObject({ type: 'delete', pods: [{ metadata: { name: 'b' } }] });
});

test('planPods waits after failures', () => {
  const view = viewJob(aJob({ completions: 1 }), [], new Set());
  expect(planPods(view, { failures: 1, lastFailure: NOW - 4000 }, NOW)).toEqual({ type: 'wait', ms: 6000 });
});

test.each<[string, Json, KubeObject[], string | undefined]>([
  ['goes on', {}, [aPod('a', 'Failed')], undefined],
  ['has too many failures', { backoffLimit: 0 }, [aPod('a', 'Failed')], 'BackoffLimitExceeded'],
  ['restarts too often', { backoffLimit: 2, restartPolicy: 'OnFailure' }, [aPod('a', 'Running', { restarts: 2 })], 'BackoffLimitExceeded'],
  ['is too late', { activeDeadlineSeconds: 300 }, [], 'DeadlineExceeded'],
  ['rests past its deadline', { activeDeadlineSeconds: 300, suspend: true }, [], undefined],
  [
    'has too many failed indexes',
    { ...indexed, backoffLimitPerIndex: 0, maxFailedIndexes: 0 },
    [aPod('a', 'Failed', { index: 2 })],
    'MaxFailedIndexesExceeded',
  ],
])('finishOf a Job that %s', (_name, spec, pods, reason) => {
  expect(finishOf(viewJob(aJob(spec), pods, new Set()), '2026-01-01T00:00:00Z', NOW)?.reason).toBe(reason);
});

test('a Pod whose finalizer was removed counts only where it was counted', () => {
  const view = viewJob(aJob({ completions: 2 }, { succeeded: 1 }), [aPod('a', 'Succeeded')], new Set(['a']));
  expect(view.succeeded).toBe(1);
});

test.each<[string, Json, string, number | undefined]>([
  ['all of the indexes', [{ succeededIndexes: '0-2' }], '0-2', 0],
  ['not all of them', [{ succeededIndexes: '0-2' }], '0,1', undefined],
  ['enough of them', [{ succeededIndexes: '7' }, { succeededIndexes: '0-2', succeededCount: 2 }], '0,1', 1],
  ['enough of any', [{ succeededCount: 1 }], '4', 0],
])('a success rule matches with %s', (_name, rules, succeeded, rule) => {
  expect(matchingSuccessRule({ rules }, 10, Indexes.parse(succeeded, 10))).toBe(rule);
});
