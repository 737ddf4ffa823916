import { expect, test } from 'vitest';
import { answerReview } from '../../../../runtime/admission/review.ts';
import { platformCopiesHandler } from './platform-copies.ts';

test.each([
  [
    'a tenant',
    ['system:authenticated'],
    '403 configmaps "m" is forbidden: objects with the annotation "tenantry.dev/propagate-to-platform" are written by the platform only; leave it out',
  ],
  ['the platform', ['tenantry:platform'], 'allowed'],
])('an object that is copied into namespaces of the platform, written by %s', async (_, groups, outcome) => {
  const resource = { group: '', version: 'v1', resource: 'configmaps' };
  const review = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: 'u', resource, name: 'm', userInfo: { groups } },
  };
  const { response } = await answerReview(platformCopiesHandler, review, AbortSignal.timeout(5000));
  expect(response!.allowed ? 'allowed' : `${response!.status!.code} ${response!.status!.message}`).toBe(outcome);
});
