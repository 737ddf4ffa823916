import { expect, test } from 'vitest';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { podsToDelete } from './deletion-order.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');

interface Traits {
  node?: string;
  phase?: string;
  readySince?: string;
  cost?: string;
  restarts?: number;
  created?: string;
}

function aPod(name: string, traits: Traits = {}): KubeObject {
  const { node = 'n1', phase = 'Running', readySince = '2026-01-01T00:00:00Z', restarts = 0, created = '2026-01-01T00:00:00Z' } = traits;
  const ready: Json = { type: 'Ready', status: readySince === '' ? 'False' : 'True', lastTransitionTime: readySince || undefined };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      uid: name,
      creationTimestamp: created,
      annotations: traits.cost === undefined ? {} : { 'controller.kubernetes.io/pod-deletion-cost': traits.cost },
    },
    spec: { nodeName: node || undefined },
    status: { phase, conditions: [ready], containerStatuses: [{ restartCount: restarts }] },
  };
}

test.each<[string, Traits, Traits]>([
  ['not on a node', { node: '' }, {}],
  ['pending', { phase: 'Pending' }, { phase: 'Running' }],
  ['of unknown phase', { phase: 'Unknown' }, { phase: 'Running' }],
  ['not ready', { readySince: '' }, {}],
  ['cheaper', { cost: '-5' }, { cost: '3' }],
  ['ready for the shorter time', { readySince: '2026-01-01T11:59:00Z' }, { readySince: '2026-01-01T00:00:00Z' }],
  ['restarted more often', { restarts: 3 }, { restarts: 1 }],
  ['younger', { created: '2026-01-01T11:00:00Z' }, { created: '2025-12-01T00:00:00Z' }],
])('podsToDelete takes the Pod that is %s', (_name, first, second) => {
  const [gone] = podsToDelete([aPod('b', second), aPod('a', first)], [], 1, NOW);
  expect(gone.metadata.name).toBe('a');
});

test('podsToDelete takes from the node that holds more related Pods', () => {
  const pods = [aPod('a', { node: 'lonely' }), aPod('b', { node: 'crowded' })];
  const related = [...pods, aPod('c', { node: 'crowded' })];
  expect(podsToDelete(pods, related, 1, NOW)[0].metadata.name).toBe('b');
});

test('podsToDelete goes by uid between Pods of nearly the same age', () => {
  const pods = [aPod('b', { created: '2026-01-01T00:00:00Z' }), aPod('a', { created: '2026-01-01T00:00:01Z' })];
  expect(podsToDelete(pods, [], 1, NOW)[0].metadata.name).toBe('a');
});

test('an annotation that is no number costs nothing', () => {
  expect(podsToDelete([aPod('a', { cost: '+1' }), aPod('b', { cost: '-1' })], [], 1, NOW)[0].metadata.name).toBe('b');
});
