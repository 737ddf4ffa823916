import { expect, test } from 'vitest';
import { applyJsonPatch } from '../../kube/json-patch.ts';
import type { KubeObject } from '../../kube/object.ts';
import { failure } from '../../kube/status.ts';
import { jsonPatchDifference } from './json-patch-difference.ts';
import { answerReview, type AdmissionHandler, type AdmissionReviewResponse } from './review.ts';

const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels: { 'x/y': '1' } }, data: { a: '1' } };

async function review(handler: AdmissionHandler): Promise<AdmissionReviewResponse> {
  const body = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { uid: 'u', operation: 'CREATE', object } };
  return (await answerReview(handler, body, new AbortController().signal)).response!;
}

test('a handler that allows answers with the uid and nothing else', async () => {
  expect(await review(() => ({ allowed: true }))).toEqual({ uid: 'u', allowed: true });
});

test('a changed object becomes a JSON patch', async () => {
  const changed = { ...object, metadata: { name: 'a', labels: { 'x/y': '2', 'tilde~': '3' } }, data: undefined };
  const response = await review(() => ({ allowed: true, object: changed, warnings: ['careful'] }));
  expect(response).toMatchObject({ allowed: true, patchType: 'JSONPatch', warnings: ['careful'] });
  const patch = JSON.parse(Buffer.from(response.patch!, 'base64').toString('utf8'));
  expect(applyJsonPatch(structuredClone(object), patch)).toEqual(JSON.parse(JSON.stringify(changed)));
});

test.each<[string, AdmissionHandler, object]>([
  ['a refusal', () => ({ allowed: false, message: 'no' }), { message: 'no', reason: 'Forbidden', code: 403 }],
  [
    'a thrown Status',
    () => {
      throw failure('Invalid', 'bad name');
    },
    { message: 'bad name', reason: 'Invalid', code: 422 },
  ],
  [
    'a bug',
    () => {
      throw new Error('undefined is not a function');
    },
    { message: 'the admission handler failed: undefined is not a function', reason: 'InternalError', code: 500 },
  ],
])('%s refuses with its status', async (_name, handler, status) => {
  expect(await review(handler)).toEqual({ uid: 'u', allowed: false, status });
});

test.each([
  ['another kind', { kind: 'Pod' }, 'not an AdmissionReview'],
  ['an old version', { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1beta1' }, 'is not supported'],
  ['no uid', { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request: {} }, 'no request.uid'],
])('a body with %s is refused', async (_name, body, message) => {
  await expect(answerReview(() => ({ allowed: true }), body, new AbortController().signal)).rejects.toThrow(message);
});

test('jsonPatchDifference is empty for equal objects', () => {
  expect(jsonPatchDifference(object, structuredClone(object))).toEqual([]);
});
