import { expect, test } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { finishedAt, recordAfter, remainingBackOff } from './back-off.ts';

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const ended = (second: number): KubeObject =>
  pod({ status: { containerStatuses: [{ state: { terminated: { finishedAt: at(second) } } }] } });
const pod = (more: Json): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  ...more,
  metadata: { name: 'p', creationTimestamp: at(0), ...more.metadata },
});

test.each<[string, number, KubeObject[], KubeObject[], number, number | undefined]>([
  ['nothing new', 2, [], [], 2, undefined],
  ['more failures', 2, [], [ended(5), ended(3)], 4, 5],
  ['a success', 2, [ended(5)], [], 0, undefined],
  ['failures before and after a success', 2, [ended(5)], [ended(4), ended(6), ended(7)], 2, 7],
])('recordAfter %s', (_name, before, succeeded, failed, failures, last) => {
  const record = recordAfter({ failures: before }, succeeded, failed);
  expect(record.failures).toBe(failures);
  expect(record.lastFailure).toBe(last === undefined ? undefined : Date.parse(at(last)));
});

test.each<[number, number]>([
  [0, 0],
  [1, 10_000],
  [2, 20_000],
  [4, 80_000],
  [7, 600_000],
  [100, 600_000],
])('after %i failures in a row the next Pod waits %i ms', (failures, ms) => {
  expect(remainingBackOff({ failures, lastFailure: 1000 }, 1000)).toBe(ms);
  expect(remainingBackOff({ failures, lastFailure: 1000 }, 1000 + ms + 1)).toBe(0);
});

test.each<[string, KubeObject, number]>([
  ['its last container', ended(9), 9],
  ['becoming unready', pod({ status: { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: at(8) }] } }), 8],
  ['its deletion', pod({ metadata: { deletionTimestamp: at(37), deletionGracePeriodSeconds: 30 } }), 7],
  ['its creation', pod({}), 0],
])('a Pod ended with %s', (_name, object, second) => {
  expect(finishedAt(object)).toBe(Date.parse(at(second)));
});
