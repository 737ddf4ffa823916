import { expect, test } from 'vitest';
import { treeOf } from '../../../../../test/support/namespace-tree.ts';
import { FakeApi } from '../../../../../test/support/fake-api.ts';
import type { PropagationMode } from '../../../../api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import { createClient } from '../../../../client/client.ts';
import { createInMemoryTransport } from '../../../../client/in-memory/in-memory-transport.ts';
import { ConfigMap } from '../../../../client/kinds.ts';
import type { KubeObject, ObjectMeta } from '../../../../kube/object.ts';
import { answerReview } from '../../../../runtime/admission/review.ts';
import { copyOf } from '../../propagation/model/canonical-copy.ts';
import { objectsOf } from '../../propagation/model/objects-of-type.ts';
import { DEFAULT_PROPAGATION_SETTINGS } from '../../propagation/model/propagation-settings.ts';
import { objectsHandler } from './objects.ts';

const map = (namespace: string, metadata: ObjectMeta = {}, data = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'm', namespace, ...metadata },
  data,
});
const copy = (metadata: ObjectMeta = {}, data = {}, rest: object = {}): KubeObject => {
  const made = copyOf(map('a', {}, data), 'b', undefined, DEFAULT_PROPAGATION_SETTINGS);
  return { ...made, ...rest, metadata: { ...made.metadata, ...metadata } };
};
const ALICE = { username: 'alice', groups: ['system:masters'] };
const CONTROLLER = {
  username: 'system:serviceaccount:tenantry-system:tenantry-tenancy',
  groups: ['system:serviceaccounts:tenantry-system'],
};

interface Asked {
  operation: 'CREATE' | 'UPDATE' | 'DELETE';
  object?: KubeObject;
  oldObject?: KubeObject;
  userInfo?: object;
  mode?: PropagationMode;
  existing?: KubeObject[];
}

/** `allowed`, or the code and text of the refusal. Namespace `d` is going, and the tree does not know it yet. */
async function review({ operation, object, oldObject, userInfo = ALICE, mode = 'Propagate', existing = [] }: Asked): Promise<string> {
  const api = new FakeApi();
  for (const name of ['a', 'b', 'c']) api.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, 'namespaces');
  api.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'd', deletionTimestamp: 'now', finalizers: ['x'] } }, 'namespaces');
  const client = createClient(createInMemoryTransport(api.handler));
  const forest = treeOf({ a: {}, b: { parent: 'a' }, c: { parent: 'b', labels: { env: 'test' } }, d: { parent: 'a' } });
  const type = { kind: ConfigMap, mode, objects: objectsOf(existing) };
  const handler = objectsHandler({
    client,
    forest,
    types: { find: (group, plural) => (group === '' && plural === 'configmaps' ? type : undefined) },
  });
  const { namespace, name } = (object ?? oldObject)!.metadata;
  const resource = { group: '', version: 'v1', resource: 'configmaps' };
  const request = { uid: 'u', resource, namespace, name, operation, object: object ?? null, oldObject: oldObject ?? null, userInfo };
  const answer = await answerReview(
    handler,
    { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request },
    AbortSignal.timeout(5000),
  );
  const { allowed, status } = answer.response!;
  return allowed ? 'allowed' : `${status!.code} ${status!.message}`;
}

const none = { annotations: { 'propagate.hnc.x-k8s.io/none': 'true' } };
const select = { annotations: { 'propagate.hnc.x-k8s.io/select': 'env=test' } };
const OVERWRITES = (names: string) =>
  `409 Operation cannot be fulfilled on configmaps "a/m": would overwrite objects in the following descendant namespace(s): ${names}. To fix this, choose a different name for the object, or remove the conflicting objects from the listed namespaces`;

test.each<[string, Asked, string]>([
  ['a source is created', { operation: 'CREATE', object: map('a') }, 'allowed'],
  [
    'a source is created above objects of its name',
    { operation: 'CREATE', object: map('a'), existing: [map('b'), map('c')] },
    OVERWRITES('b,c'),
  ],
  ['one that goes to some of them', { operation: 'CREATE', object: map('a', select), existing: [map('b'), map('c')] }, OVERWRITES('c')],
  ['one that goes nowhere', { operation: 'CREATE', object: map('a', none), existing: [map('b')] }, 'allowed'],
  ['one that now goes there', { operation: 'UPDATE', object: map('a'), oldObject: map('a', none), existing: [map('b')] }, OVERWRITES('b')],
  [
    'one with two exceptions',
    { operation: 'CREATE', object: map('a', { annotations: { ...none.annotations, ...select.annotations } }) },
    '400 cannot have more than one selector at the same time, but got multiple: propagate.hnc.x-k8s.io/select, propagate.hnc.x-k8s.io/none',
  ],
  ['a source is deleted', { operation: 'DELETE', oldObject: map('a') }, 'allowed'],
  [
    'a copy is created',
    { operation: 'CREATE', object: copy() },
    '403 configmaps "b/m" is forbidden: cannot create objects with the label "hnc.x-k8s.io/inherited-from"',
  ],
  [
    'a copy is deleted',
    { operation: 'DELETE', oldObject: copy() },
    '403 configmaps "/" is forbidden: cannot delete object propagated from namespace "a"',
  ],
  ['a copy is deleted, its namespace going', { operation: 'DELETE', oldObject: copy({ namespace: 'd' }) }, 'allowed'],
  ['a copy is deleted, its namespace gone', { operation: 'DELETE', oldObject: copy({ namespace: 'gone' }) }, 'allowed'],
  [
    'a copy is changed',
    { operation: 'UPDATE', object: copy({}, { x: '2' }), oldObject: copy() },
    '403 configmaps "b/m" is forbidden: cannot modify object propagated from namespace "a"',
  ],
  [
    'a copy gets an annotation',
    { operation: 'UPDATE', object: copy({ annotations: { x: '1' } }), oldObject: copy() },
    '403 configmaps "b/m" is forbidden: cannot modify object propagated from namespace "a"',
  ],
  [
    'a copy gets an exception',
    { operation: 'UPDATE', object: copy(none), oldObject: copy() },
    '403 configmaps "b/m" is forbidden: cannot modify object propagated from namespace "a"',
  ],
  [
    'the status of a copy',
    { operation: 'UPDATE', object: copy({ resourceVersion: '2' }, {}, { status: { x: 1 } }), oldObject: copy() },
    'allowed',
  ],
  [
    'a copy becomes a source',
    { operation: 'UPDATE', object: copy({ labels: {} }), oldObject: copy() },
    '403 configmaps "b/m" is forbidden: cannot modify the label "hnc.x-k8s.io/inherited-from"',
  ],
  [
    'a source becomes a copy',
    { operation: 'UPDATE', object: copy(), oldObject: map('b') },
    '403 configmaps "b/m" is forbidden: cannot modify the label "hnc.x-k8s.io/inherited-from"',
  ],
  ['a copy is written by our controllers', { operation: 'CREATE', object: copy(), userInfo: CONTROLLER }, 'allowed'],
  ['a copy of a type that is ignored', { operation: 'CREATE', object: copy(), mode: 'Ignore' }, 'allowed'],
  ['a copy of a type that is removed', { operation: 'DELETE', oldObject: copy(), mode: 'Remove' }, 'allowed'],
  ['an object outside of the trees', { operation: 'CREATE', object: copy({ namespace: 'kube-system' }) }, 'allowed'],
])('%s', async (_, asked, outcome) => {
  expect(await review(asked)).toBe(outcome);
});
