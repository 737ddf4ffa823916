import { expect, test } from 'vitest';
import type { Client } from '../../../../client/client.ts';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { failure } from '../../../../kube/status.ts';
import type { AdmissionReviewRequest } from '../../../../runtime/admission/review.ts';
import { TENANT_LABEL } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import { Forest } from '../../forest/forest.ts';
import { whenKnown } from './until-known.ts';

const place = { uid: 'acme', labels: { [TENANT_LABEL]: 'acme' }, annotations: {}, terminating: false };
const request = { namespace: 'acme', userInfo: { username: 'alice', groups: [] } } as unknown as AdmissionReviewRequest;

function aWorld(exists: boolean) {
  const clock = new FakeClock();
  const forest = new Forest();
  const get = () => (exists ? Promise.resolve({}) : Promise.reject(failure('NotFound', 'gone')));
  const client = { clock, metadata: () => ({ get }) } as unknown as Client;
  const handler = whenKnown({ forest, client }, () => ({ allowed: true, message: forest.get('acme')?.tenant }));
  return { clock, forest, ask: async (of = request) => handler(of, new AbortController().signal) };
}

test('a write in a namespace that the watch has not told yet, is judged when it has', async () => {
  const { clock, forest, ask } = aWorld(true);
  const answer = ask();
  await clock.advance(10);
  forest.setNamespace('acme', place);
  expect(await answer).toEqual({ allowed: true, message: 'acme' });
});

test('a write in a namespace that is never told, is not let in', async () => {
  const { clock, ask } = aWorld(true);
  const answer = ask();
  await clock.advance(2000);
  expect(await answer).toMatchObject({ allowed: false, code: 503 });
});

test('a write in a namespace that is gone, is left to the API server', async () => {
  expect(await aWorld(false).ask()).toMatchObject({ allowed: true });
});

test('our own controllers, wait for nobody', async () => {
  const own = { ...request, userInfo: { username: 'x', groups: ['system:serviceaccounts:tenantry-system'] } };
  expect(await aWorld(true).ask(own)).toMatchObject({ allowed: true });
});
