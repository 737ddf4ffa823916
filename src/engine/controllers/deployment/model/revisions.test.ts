import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { findNewSet, newSetAnnotations, nextRevision, surplusSets } from './revisions.ts';

const REVISION = 'deployment.kubernetes.io/revision';
const HISTORY = 'deployment.kubernetes.io/revision-history';

function aSet(name: string, revision: string, image = 'v1', replicas = 0): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, generation: 1, annotations: { [REVISION]: revision } },
    spec: { replicas, template: { metadata: { labels: { app: 'a', 'pod-template-hash': name } }, spec: { containers: [{ image }] } } },
    status: { replicas, observedGeneration: 1 },
  };
}

function aDeployment(image: string, revisionHistoryLimit?: number): KubeObject {
  const template = { metadata: { labels: { app: 'a' }, creationTimestamp: null }, spec: { containers: [{ image }] } };
  const annotations = { team: 'blue', [REVISION]: '7', 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd', annotations }, spec: { template, revisionHistoryLimit } };
}

test('findNewSet compares templates without their hash', () => {
  const sets = [aSet('a', '1', 'v1'), aSet('b', '2', 'v2')];
  expect(findNewSet(aDeployment('v2'), sets)?.metadata.name).toBe('b');
  expect(findNewSet(aDeployment('v3'), sets)).toBeUndefined();
});

test('nextRevision follows the highest; what is no number does not count', () => {
  expect(nextRevision([])).toBe(1n);
  expect(nextRevision([aSet('a', '4'), aSet('b', 'nonsense'), aSet('c', '2')])).toBe(5n);
  expect(nextRevision([aSet('a', '3546343826724305832')])).toBe(3_546_343_826_724_305_833n);
});

test.each<[string, Record<string, string> | undefined, bigint, Record<string, string>]>([
  ['a fresh set', undefined, 1n, { team: 'blue', [REVISION]: '1' }],
  ['a set that stays newest', { [REVISION]: '3' }, 3n, { team: 'blue', [REVISION]: '3' }],
  ['a set that is rolled back to', { [REVISION]: '1' }, 3n, { team: 'blue', [REVISION]: '3', [HISTORY]: '1' }],
  ['again', { [REVISION]: '3', [HISTORY]: '1' }, 5n, { team: 'blue', [REVISION]: '5', [HISTORY]: '1,3' }],
])('newSetAnnotations of %s', (_name, current, revision, expected) => {
  expect(newSetAnnotations(aDeployment('v1'), current, revision)).toEqual(expected);
});

test('surplusSets are the oldest without Pods', () => {
  const old = [aSet('c', '3'), aSet('a', '1', 'v1', 1), aSet('b', '2')];
  expect(surplusSets(aDeployment('v1', 1), old).map(({ metadata }) => metadata.name)).toEqual(['b']);
  expect(surplusSets(aDeployment('v1', 3), old)).toEqual([]);
  expect(surplusSets(aDeployment('v1'), old)).toEqual([]);
});
