import { expect, test } from 'vitest';
import type { HierarchyConfiguration } from '../../../../api/hnc.x-k8s.io/v1alpha2/hierarchy-configuration.ts';
import type { SubnamespaceAnchor } from '../../../../api/hnc.x-k8s.io/v1alpha2/subnamespace-anchor.ts';
import type { ObjectMeta } from '../../../../kube/object.ts';
import type { TreeNamespace } from '../../forest/tree-namespace.ts';
import { hierarchyWrite, unmanagedHierarchyPatch, type HierarchyInput } from './hierarchy-write.ts';

const FINALIZER = 'hnc.x-k8s.io/hasSubnamespace';
const missing = { type: 'ActivitiesHalted', status: 'True', reason: 'ParentMissing', message: 'Parent "x" does not exist' } as const;

function aNamespace(given: Partial<TreeNamespace> = {}): TreeNamespace {
  return {
    name: 'n',
    uid: 'n',
    parent: undefined,
    children: [],
    anchors: new Set(),
    isManaged: true,
    isSub: false,
    externalManager: undefined,
    terminating: false,
    allowCascadingDeletion: false,
    conditions: [],
    labels: {},
    annotations: {},
    tenant: undefined,
    role: undefined,
    ...given,
  };
}

function stored(metadata: Partial<ObjectMeta>, rest: Partial<HierarchyConfiguration> = {}): HierarchyConfiguration {
  const own = { name: 'hierarchy', namespace: 'n', resourceVersion: '7', ...metadata };
  return { apiVersion: 'hnc.x-k8s.io/v1alpha2', kind: 'HierarchyConfiguration', metadata: own, spec: {}, ...rest };
}

function write(given: Partial<HierarchyInput>) {
  return hierarchyWrite({
    namespace: aNamespace(),
    stored: undefined,
    anchor: undefined,
    frozen: false,
    now: new Date('2026-01-02T03:04:05Z'),
    ...given,
  });
}

test.each<[string, Partial<HierarchyInput>]>([
  ['where there is nothing to say', {}],
  ['in a namespace that goes', { namespace: aNamespace({ children: ['a'], terminating: true }) }],
  ['while its definition goes', { namespace: aNamespace({ conditions: [missing] }), frozen: true }],
])('hierarchyWrite, creates nothing, %s', (_, given) => {
  expect(write(given)).toBeUndefined();
});

test('hierarchyWrite, creates what the anchor of a subnamespace says, and the finalizer for its own anchors', () => {
  const labels = [{ key: 'a', value: 'b' }];
  const anchor = { apiVersion: '', kind: '', metadata: {}, spec: { labels } } as SubnamespaceAnchor;
  const namespace = aNamespace({ isSub: true, parent: 'p', children: ['c'], anchors: new Set(['c']) });
  expect(write({ namespace, anchor })).toEqual({
    create: {
      metadata: { name: 'hierarchy', namespace: 'n', finalizers: [FINALIZER] },
      spec: { parent: 'p', labels },
      status: { children: ['c'] },
    },
  });
});

test('hierarchyWrite, writes nothing, when all is said', () => {
  const conditions = [{ ...missing, lastTransitionTime: '2020-01-01T00:00:00Z' }];
  const there = stored({ finalizers: ['other', FINALIZER] }, { spec: { parent: 'x' }, status: { children: ['c'], conditions } });
  const namespace = aNamespace({ parent: 'x', children: ['c'], anchors: new Set(['c']), conditions: [missing] });
  expect(write({ namespace, stored: there })).toBeUndefined();
});

test.each<[string, Partial<HierarchyInput>, object]>([
  [
    'the children that went',
    { stored: stored({}, { status: { children: ['a'] } }) },
    { metadata: { resourceVersion: '7' }, status: { children: null } },
  ],
  [
    'a new condition with its time, keeping that of one that stays',
    {
      namespace: aNamespace({ conditions: [missing, { ...missing, type: 'BadConfiguration', reason: 'New', message: 'new' }] }),
      stored: stored({}, { status: { conditions: [{ ...missing, lastTransitionTime: '2020-01-01T00:00:00Z' }] } }),
    },
    {
      metadata: { resourceVersion: '7' },
      status: {
        conditions: [
          { ...missing, lastTransitionTime: '2020-01-01T00:00:00Z' },
          { ...missing, type: 'BadConfiguration', reason: 'New', message: 'new', lastTransitionTime: '2026-01-02T03:04:05Z' },
        ],
      },
    },
  ],
  [
    'the finalizer off a configuration that is deleted alone',
    {
      namespace: aNamespace({ anchors: new Set(['a']) }),
      stored: stored({ deletionTimestamp: 'x', finalizers: [FINALIZER, 'other'] }),
    },
    { metadata: { resourceVersion: '7', finalizers: ['other'] } },
  ],
  [
    'the finalizer off where the last anchor went',
    { stored: stored({ finalizers: [FINALIZER] }) },
    { metadata: { resourceVersion: '7', finalizers: [] } },
  ],
  [
    'the parent that the annotation says, over what a user wrote',
    { namespace: aNamespace({ isSub: true, parent: 'p' }), stored: stored({}, { spec: { parent: 'q', allowCascadingDeletion: true } }) },
    { metadata: { resourceVersion: '7' }, spec: { parent: 'p' } },
  ],
])('hierarchyWrite, patches %s', (_, given, patch) => {
  expect(write(given)).toEqual({ patch });
});

test('hierarchyWrite, holds the configuration of a namespace that goes, until its anchors are gone', () => {
  const namespace = aNamespace({ terminating: true, anchors: new Set(['a']) });
  expect(write({ namespace, stored: stored({ deletionTimestamp: 'x', finalizers: [FINALIZER] }) })).toBeUndefined();
  // One that came too late cannot be added any more.
  expect(write({ namespace, stored: stored({ deletionTimestamp: 'x', finalizers: ['other'] }) })).toBeUndefined();
});

test('unmanagedHierarchyPatch, lets a configuration outside of the tree go', () => {
  expect(unmanagedHierarchyPatch(undefined)).toBeUndefined();
  expect(unmanagedHierarchyPatch(stored({}))).toBeUndefined();
  expect(unmanagedHierarchyPatch(stored({ finalizers: [FINALIZER] }))).toEqual({
    metadata: { resourceVersion: '7', finalizers: [] },
    status: { children: null },
  });
});
