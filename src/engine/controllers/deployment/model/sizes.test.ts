import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { isScaled, scaleAll } from './proportional-scaling.ts';
import { maxSurge, maxUnavailable, newSetSize, shrinkOldSets } from './sizes.ts';

function aDeployment(replicas: number, surge: number | string, unavailable: number | string, status = {}): KubeObject {
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: surge, maxUnavailable: unavailable } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { replicas, strategy }, status };
}

function aSet(name: string, replicas: number, availableReplicas = replicas, made: { desired?: number; max?: number } = {}): KubeObject {
  const annotations = {
    'deployment.kubernetes.io/desired-replicas': String(made.desired ?? 10),
    'deployment.kubernetes.io/max-replicas': String(made.max ?? 10),
  };
  return { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name, annotations }, spec: { replicas }, status: { availableReplicas } };
}

const sizesOf = (resizes: { set: KubeObject; replicas: number }[]): Record<string, number> =>
  Object.fromEntries(resizes.map(({ set, replicas }) => [set.metadata.name!, replicas]));

test.each<[number, number | string, number | string, number, number]>([
  [10, '25%', '25%', 3, 2],
  [1, '25%', '25%', 1, 0],
  [10, 0, 0, 0, 1],
  [3, 0, 5, 0, 3],
  [0, 1, 1, 1, 0],
])('of %i replicas surge %s and unavailable %s are %i and %i', (replicas, surge, unavailable, expectedSurge, expectedUnavailable) => {
  const deployment = aDeployment(replicas, surge, unavailable);
  expect([maxSurge(deployment), maxUnavailable(deployment)]).toEqual([expectedSurge, expectedUnavailable]);
});

test.each<[string, number, KubeObject[], number, number]>([
  ['starts with the surge', 2, [aSet('old', 10)], 0, 2],
  ['does not shrink when there is no room', 0, [aSet('old', 10), aSet('new', 3)], 3, 3],
  ['never exceeds what is wanted', 5, [aSet('old', 1), aSet('new', 9)], 9, 10],
])('newSetSize: the new set %s', (_name, surge, all, current, expected) => {
  expect(newSetSize(aDeployment(10, surge, 0), all, current)).toBe(expected);
});

test.each<[string, KubeObject, KubeObject[], Record<string, number>]>([
  ['not while the new Pods are not available', aSet('new', 3, 0), [aSet('old', 8)], {}],
  ['by as many as became available', aSet('new', 5, 3), [aSet('old', 8)], { old: 5 }],
  ['unhealthy ones first', aSet('new', 3, 0), [aSet('old', 10, 8)], { old: 8 }],
  ['the oldest set first', aSet('new', 5, 5), [aSet('a', 2), aSet('b', 5)], { a: 0, b: 3 }],
  ['once for one new Pod, though Pods on their way out are still reported', aSet('new', 5, 1), [aSet('old', 8, 10)], { old: 7 }],
])('shrinkOldSets shrinks %s', (_name, newSet, old, expected) => {
  expect(sizesOf(shrinkOldSets(aDeployment(10, 3, 2), newSet, old))).toEqual(expected);
});

test.each<[string, KubeObject, KubeObject | undefined, KubeObject[], Record<string, number>]>([
  ['the only active set takes it all', aDeployment(5, 0, 1), aSet('new', 3), [aSet('old', 0)], { new: 5 }],
  ['without an active set the new one does', aDeployment(5, 0, 1), aSet('new', 0), [aSet('old', 0)], { new: 5 }],
  ['a saturated new set empties the others', aDeployment(10, 0, 1), aSet('new', 10), [aSet('old', 1)], { old: 0 }],
  ['two sets grow in proportion', aDeployment(20, 0, 1), aSet('new', 5, 0), [aSet('old', 5)], { new: 10, old: 10 }],
  ['leftovers go to the largest', aDeployment(13, 0, 1), aSet('new', 3, 0), [aSet('old', 7)], { new: 4, old: 9 }],
  ['two sets shrink in proportion', aDeployment(5, 0, 1), aSet('new', 4, 0), [aSet('old', 6)], { new: 2, old: 3 }],
  ['nothing is left of nothing', aDeployment(0, 0, 1), aSet('new', 4, 0), [aSet('old', 6)], { new: 0, old: 0 }],
])('scaleAll: %s', (_name, deployment, newSet, old, expected) => {
  expect(sizesOf(scaleAll(deployment, newSet, old))).toEqual(expected);
});

test('isScaled asks the sets in use what size they were made for', () => {
  expect(isScaled(aDeployment(10, 0, 1), [aSet('a', 1, 1, { desired: 10 })])).toBe(false);
  expect(isScaled(aDeployment(10, 0, 1), [aSet('a', 1, 1, { desired: 9 })])).toBe(true);
  expect(isScaled(aDeployment(10, 0, 1), [aSet('a', 0, 0, { desired: 9 })])).toBe(false);
});
