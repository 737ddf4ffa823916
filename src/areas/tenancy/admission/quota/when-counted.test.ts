import { expect, test } from 'vitest';
import { failure } from '../../../../kube/status.ts';
import type { AdmissionReviewRequest } from '../../../../runtime/admission/review.ts';
import { whenCounted } from './when-counted.ts';

const request = (operation: string, group = 'system:authenticated') =>
  ({ operation, namespace: 'acme--new', userInfo: { username: 'x', groups: [group] } }) as unknown as AdmissionReviewRequest;
const ask = async (ready: Promise<void> | undefined, of: AdmissionReviewRequest) =>
  whenCounted({ ready: () => ready }, () => ({ allowed: true }))(of, new AbortController().signal);
const never = () => {
  const waiting = Promise.reject(failure('ServiceUnavailable', 'not counted yet'));
  waiting.catch(() => {});
  return waiting as Promise<void>;
};

test('a create in a namespace whose quotas count, is judged', async () => {
  expect(await ask(undefined, request('CREATE'))).toEqual({ allowed: true });
});

test('a create in a namespace whose quotas come in a moment, is judged then', async () => {
  expect(await ask(Promise.resolve(), request('CREATE'))).toEqual({ allowed: true });
});

test('a create in a namespace whose quotas do not come, is refused', async () => {
  await expect(ask(never(), request('CREATE'))).rejects.toMatchObject({ code: 503 });
});

test.each([
  ['a change', request('UPDATE')],
  ['a create of our own controllers', request('CREATE', 'system:serviceaccounts:tenantry-system')],
])('%s, waits for no quota', async (_what, of) => {
  expect(await ask(never(), of)).toEqual({ allowed: true });
});
