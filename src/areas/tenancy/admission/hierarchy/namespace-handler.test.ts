import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import type { AdmissionReviewRequest } from '../../../../runtime/admission/review.ts';
import { Forest } from '../../forest/forest.ts';
import { namespaceHandler } from './namespace-handler.ts';
import { namespaceLabelHandler } from './namespace-label-handler.ts';

const TREE = 'system:serviceaccounts:tenantry-system';

function request(
  operation: 'CREATE' | 'UPDATE' | 'DELETE',
  metadata: object,
  groups: string[] = [],
  previous?: object,
): AdmissionReviewRequest {
  const namespace = (own: object): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n', ...own } });
  return {
    uid: '1',
    kind: { group: '', version: 'v1', kind: 'Namespace' },
    resource: { group: '', version: 'v1', resource: 'namespaces' },
    operation,
    userInfo: { username: 'somebody', groups },
    object: operation === 'DELETE' ? null : namespace(metadata),
    oldObject: operation === 'CREATE' ? null : namespace(previous ?? metadata),
  };
}

const included = { 'hnc.x-k8s.io/included-namespace': 'true' };
const decide = (forest: Forest, asked: AdmissionReviewRequest) => namespaceHandler({ forest })(asked, new AbortController().signal);

test('a name that an external hierarchy uses, is reserved', () => {
  const forest = new Forest();
  const labels = { 'ext.tree.hnc.x-k8s.io/depth': '0', 'n.tree.hnc.x-k8s.io/depth': '1' };
  forest.setNamespace('ext', { uid: 'e', labels, annotations: { 'hnc.x-k8s.io/managed-by': 'others' }, terminating: false });
  expect(decide(forest, request('CREATE', { labels: included }))).toMatchObject({
    allowed: false,
    code: 409,
    message: 'Operation cannot be fulfilled on namespaces "n": is reserved by the external hierarchy manager "others"',
  });
  forest.setNamespace('ext', undefined);
  expect(decide(forest, request('CREATE', { labels: included }))).toEqual({ allowed: true });
});

test('the tree itself, writes what others may not', () => {
  const labels = { ...included, 'n.tree.hnc.x-k8s.io/depth': '0', 'tenantry.dev/tenant': 'n' };
  expect(decide(new Forest(), request('CREATE', { labels }))).toMatchObject({ allowed: false });
  expect(decide(new Forest(), request('CREATE', { labels }, [TREE]))).toEqual({ allowed: true });
});

test('an empty tree label, is still one', () => {
  const labels = { ...included, 'x.tree.hnc.x-k8s.io/depth': '' };
  expect(decide(new Forest(), request('UPDATE', { labels: included }, [], { labels }))).toMatchObject({ allowed: false });
});

test('the label that the rules select on, is put onto managed namespaces that lack it', () => {
  const handler = namespaceLabelHandler({ forest: new Forest() });
  const { signal } = new AbortController();
  expect(handler(request('CREATE', {}), signal)).toMatchObject({ allowed: true, object: { metadata: { name: 'n', labels: included } } });
  expect(handler(request('CREATE', { name: 'kube-x' }), signal)).toEqual({ allowed: true });
  expect(handler(request('CREATE', { labels: { 'hnc.x-k8s.io/included-namespace': 'no' } }), signal)).toEqual({ allowed: true });
});
