import { expect, test } from 'vitest';
import type { Client } from '../../../../client/client.ts';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { failure } from '../../../../kube/status.ts';
import type { AdmissionReviewRequest } from '../../../../runtime/admission/review.ts';
import { TENANT_LABEL } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import { Forest } from '../../forest/forest.ts';
import { anchorHandler } from './anchor-handler.ts';

const root = { uid: 'acme', labels: { [TENANT_LABEL]: 'acme' }, annotations: {}, terminating: false };

function request(name: string): AdmissionReviewRequest {
  const anchor = { apiVersion: 'hnc.x-k8s.io/v1alpha2', kind: 'SubnamespaceAnchor', metadata: { name, namespace: 'acme' }, spec: {} };
  return {
    uid: '1',
    kind: { group: 'hnc.x-k8s.io', version: 'v1alpha2', kind: 'SubnamespaceAnchor' },
    resource: { group: 'hnc.x-k8s.io', version: 'v1alpha2', resource: 'subnamespaceanchors' },
    operation: 'CREATE',
    userInfo: { username: 'owner', groups: [] },
    namespace: 'acme',
    object: anchor,
    oldObject: null,
  };
}

/** A client to whom the namespace exists, or not. */
function aClient(clock: FakeClock, exists: boolean): Client {
  const get = () => (exists ? Promise.resolve({}) : Promise.reject(failure('NotFound', 'gone')));
  return { clock, metadata: () => ({ get }) } as unknown as Client;
}

test('an anchor in a namespace that the watch has not told yet, is judged when it has', async () => {
  const forest = new Forest();
  const clock = new FakeClock();
  const answer = anchorHandler({ forest, client: aClient(clock, true) })(request('beta--x'), new AbortController().signal);
  await clock.advance(10);
  forest.setNamespace('acme', root);
  expect(await answer).toMatchObject({ allowed: false, message: expect.stringContaining('namespaces of tenant "acme" are named') });
});

test.each([true, false])('an anchor in a namespace that is never told, is not let in (it exists: %s)', async (exists) => {
  const clock = new FakeClock();
  const answer = anchorHandler({ forest: new Forest(), client: aClient(clock, exists) })(request('acme--x'), new AbortController().signal);
  await clock.advance(2000);
  expect(await answer).toMatchObject({ allowed: false, code: 503 });
});
