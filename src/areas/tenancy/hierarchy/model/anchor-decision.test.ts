import { expect, test } from 'vitest';
import type { SubnamespaceAnchor } from '../../../../api/hnc.x-k8s.io/v1alpha2/subnamespace-anchor.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { anchorPatch, decideAnchor, type AnchorDecision, type AnchorInput } from './anchor-decision.ts';

const HOLD = 'hnc.x-k8s.io';

function anAnchor(metadata: object = {}, state?: string): SubnamespaceAnchor {
  const own = { name: 'c', namespace: 'p', resourceVersion: '3', ...metadata };
  return { apiVersion: '', kind: '', metadata: own, spec: {}, ...(state ? { status: { status: state } } : {}) };
}

function aChild(of: string | undefined, metadata: object = {}): KubeObject {
  const annotations: Record<string, string> = of ? { 'hnc.x-k8s.io/subnamespace-of': of } : {};
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'c', annotations, ...metadata } };
}

const going = { deletionTimestamp: 'now', finalizers: [HOLD] };

test.each<[string, Partial<AnchorInput>, AnchorDecision]>([
  ['without a namespace makes one', {}, { state: 'Missing', held: true, action: 'create' }],
  ['in a namespace that goes begins nothing', { parentTerminating: true }, { state: 'Missing', held: true, action: 'none' }],
  ['with its namespace is content', { child: aChild('p') }, { state: 'Ok', held: true, action: 'none' }],
  ['for somebody else’s namespace conflicts', { child: aChild('q') }, { state: 'Conflict', held: true, action: 'none' }],
  ['for a full namespace conflicts', { child: aChild(undefined) }, { state: 'Conflict', held: true, action: 'none' }],
  ['for an unmanaged name is forbidden', { nameManaged: false }, { state: 'Forbidden', held: false, action: 'none' }],
  ['in an unmanaged namespace is left alone', { parentManaged: false }, { state: undefined, held: false, action: 'none' }],
  ['that goes takes its namespace', { anchor: anAnchor(going), child: aChild('p') }, { state: 'Ok', held: true, action: 'delete' }],
  [
    'that goes waits for its namespace',
    { anchor: anAnchor(going), child: aChild('p', { deletionTimestamp: 'x' }) },
    { state: 'Ok', held: true, action: 'none' },
  ],
  ['that goes follows its namespace', { anchor: anAnchor(going) }, { state: 'Missing', held: false, action: 'none' }],
  [
    'that goes leaves what is not its own',
    { anchor: anAnchor(going), child: aChild('q') },
    { state: 'Conflict', held: false, action: 'none' },
  ],
  [
    'that goes leaves a namespace with children',
    { anchor: anAnchor(going), child: aChild('p'), childHasChildren: true },
    { state: 'Ok', held: false, action: 'none' },
  ],
  [
    'that goes takes children where that is allowed',
    { anchor: anAnchor(going), child: aChild('p'), childHasChildren: true, cascades: true },
    { state: 'Ok', held: true, action: 'delete' },
  ],
  [
    'that goes with its definition leaves its namespace',
    { anchor: anAnchor(going), child: aChild('p'), definitionDeleted: true },
    { state: 'Ok', held: false, action: 'none' },
  ],
  [
    'that was let go decides nothing any more',
    { anchor: anAnchor({ deletionTimestamp: 'now', finalizers: ['other'] }), child: aChild('p') },
    { state: 'Ok', held: false, action: 'none' },
  ],
])('an anchor %s', (_, given, expected) => {
  const input: AnchorInput = {
    anchor: anAnchor(),
    child: undefined,
    parentManaged: true,
    nameManaged: true,
    parentTerminating: false,
    childHasChildren: false,
    cascades: false,
    definitionDeleted: false,
  };
  expect(decideAnchor({ ...input, ...given })).toEqual(expected);
});

test.each<[string, SubnamespaceAnchor, AnchorDecision, object | undefined]>([
  [
    'holds and says',
    anAnchor({ finalizers: ['other'] }),
    { state: 'Missing', held: true, action: 'create' },
    { metadata: { resourceVersion: '3', finalizers: ['other', HOLD] }, status: { status: 'Missing' } },
  ],
  ['is silent when all is said', anAnchor({ finalizers: [HOLD] }, 'Ok'), { state: 'Ok', held: true, action: 'none' }, undefined],
  ['lets go', anAnchor(going, 'Ok'), { state: 'Ok', held: false, action: 'none' }, { metadata: { resourceVersion: '3', finalizers: [] } }],
  ['cannot hold what already goes', anAnchor({ deletionTimestamp: 'x' }, 'Ok'), { state: 'Ok', held: true, action: 'none' }, undefined],
])('anchorPatch, %s', (_, anchor, decision, patch) => {
  expect(anchorPatch(anchor, decision)).toEqual(patch);
});
