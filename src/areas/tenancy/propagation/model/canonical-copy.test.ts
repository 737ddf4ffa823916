import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { copyOf, isInSync, sameForCopies } from './canonical-copy.ts';
import { DEFAULT_PROPAGATION_SETTINGS, type PropagationSettings } from './propagation-settings.ts';

const source: KubeObject = {
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: {
    name: 't',
    namespace: 'a',
    uid: 'source',
    resourceVersion: '7',
    generation: 3,
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { team: 'x', 'app.kubernetes.io/managed-by': 'helm', 'a.tree.hnc.x-k8s.io/depth': '0' },
    annotations: {
      note: 'n',
      'propagate.hnc.x-k8s.io/select': 'env=test',
      'tenantry.dev/propagate-to-platform': 'true',
      'tracking/id': '1',
    },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }],
    finalizers: ['x/y'],
  },
  spec: { a: 1 },
  status: { ready: true },
};
const copy = copyOf(source, 'b', undefined, DEFAULT_PROPAGATION_SETTINGS);

test('a copy, has everything of its source but status and the metadata that is about one object', () => {
  expect(copy).toEqual({
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: {
      name: 't',
      namespace: 'b',
      labels: { team: 'x', 'app.kubernetes.io/managed-by': 'hnc.x-k8s.io', 'hnc.x-k8s.io/inherited-from': 'a' },
      annotations: { note: 'n', 'tracking/id': '1' },
    },
    spec: { a: 1 },
  });
});

test('a copy that is written again, keeps what it has of its own', () => {
  const own = {
    uid: 'copy',
    resourceVersion: '9',
    finalizers: ['f'],
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'q', uid: 'v' }],
  };
  const existing = { ...copy, metadata: { ...copy.metadata, ...own }, status: { ready: false } };
  expect(copyOf(source, 'b', existing, DEFAULT_PROPAGATION_SETTINGS)).toEqual({
    ...copy,
    metadata: { ...copy.metadata, ...own },
    status: { ready: false },
  });
});

test('what an administrator keeps at the source, is not copied and not compared', () => {
  const settings: PropagationSettings = {
    ...DEFAULT_PROPAGATION_SETTINGS,
    unpropagatedAnnotations: ['tracking/id'],
    unpropagatedLabels: ['team'],
  };
  const kept = copyOf(source, 'b', undefined, settings);
  expect([kept.metadata.labels?.['team'], kept.metadata.annotations]).toEqual([undefined, { note: 'n' }]);
  const tracked = { ...kept, metadata: { ...kept.metadata, annotations: { note: 'n', 'tracking/id': '2' } } };
  expect(isInSync(tracked, source, settings)).toBe(true);
});

describe('a copy is in sync', () => {
  const changed = (metadata: object, rest: object = {}): KubeObject => ({ ...copy, ...rest, metadata: { ...copy.metadata, ...metadata } });
  test.each([
    ['as it was written', copy, true],
    ['with what a server adds', changed({ uid: 'u', resourceVersion: '1', generation: 1 }, { status: { ready: false } }), true],
    ['not with another spec', changed({}, { spec: { a: 2 } }), false],
    ['not with a field more', changed({}, { data: {} }), false],
    ['not without a field', changed({}, { spec: undefined }), false],
    ['not with another label', changed({ labels: { ...copy.metadata.labels, team: 'y' } }), false],
    ['not with an annotation more', changed({ annotations: { ...copy.metadata.annotations, more: '1' } }), false],
    ['not from another namespace', changed({ labels: { ...copy.metadata.labels, 'hnc.x-k8s.io/inherited-from': 'z' } }), false],
  ])('%s', (_, object, inSync) => {
    expect(isInSync(object, source, DEFAULT_PROPAGATION_SETTINGS)).toBe(inSync);
  });
});

test('a source, has not changed for its copies, when only its status and bookkeeping have', () => {
  const later = { ...source, status: { ready: false }, metadata: { ...source.metadata, resourceVersion: '8', generation: 4 } };
  expect(sameForCopies(source, later)).toBe(true);
  expect(sameForCopies(source, { ...later, metadata: { ...later.metadata, finalizers: [] } })).toBe(false);
  expect(sameForCopies(source, { ...later, spec: { a: 2 } })).toBe(false);
});
