import { expect, test } from 'vitest';
import type { PropagationMode } from '../../../../api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import type { ObjectMeta } from '../../../../kube/object.ts';
import { sourceProblem } from './source-problem.ts';

const finalizers = ['x/y'];
const annotation = (key: string, value: string) => ({ annotations: { [`propagate.hnc.x-k8s.io/${key}`]: value } });
const FINALIZERS = 'Objects with finalizers cannot be propagated';

test.each<[string, ObjectMeta, PropagationMode, string | undefined]>([
  ['nothing wrong', {}, 'Propagate', undefined],
  ['a finalizer', { finalizers }, 'Propagate', FINALIZERS],
  ['a finalizer, and not meant to go anywhere', { finalizers, ...annotation('none', 'true') }, 'Propagate', undefined],
  ['a finalizer where nobody asked', { finalizers }, 'AllowPropagate', undefined],
  ['a finalizer where the author asked', { finalizers, ...annotation('all', 'true') }, 'AllowPropagate', FINALIZERS],
  ['a finalizer of a type that is not copied', { finalizers }, 'Remove', undefined],
  [
    'an annotation that cannot be read',
    annotation('treeSelect', 'a,b'),
    'Propagate',
    'should only have one non-negated namespace, but got multiple: [a b]',
  ],
])('the event about a source with %s', (_, metadata, mode, message) => {
  expect(sourceProblem({ apiVersion: 'v1', kind: 'ConfigMap', metadata }, mode)?.message).toBe(message);
});
