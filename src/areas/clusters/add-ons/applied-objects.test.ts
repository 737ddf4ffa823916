import { afterEach, expect, it } from 'vitest';
import { FakeApi } from '../../../../test/support/fake-api.ts';
import { createClient } from '../../../client/client.ts';
import { createInMemoryTransport } from '../../../client/in-memory/in-memory-transport.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { silentLog } from '../../../lib/log.ts';
import { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { labelled } from './add-on.ts';
import { AppliedObjects } from './applied-objects.ts';

const open: SharedInformers[] = [];
afterEach(async () => {
  for (const informers of open.splice(0)) await informers.stop();
});

/** Of a Tenantry that has just been started. */
function started(api: FakeApi) {
  const tenantClient = createClient(createInMemoryTransport(api.handler));
  const informers = new SharedInformers({ client: tenantClient, log: silentLog });
  open.push(informers);
  let woken = 0;
  return { objects: new AppliedObjects({ tenantClient, informers, wake: () => void woken++ }), woken: () => woken };
}

function limits(cpu = '1'): KubeObject {
  const spec = { limits: [{ type: 'Container', default: { cpu } }] };
  return labelled('limits', { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'limits', namespace: 'team' }, spec });
}

const writes = (api: FakeApi) => api.requests.filter(({ method }) => method !== 'GET').length;

async function applied(): Promise<FakeApi> {
  const api = new FakeApi();
  const { objects, woken } = started(api);
  expect(await objects.apply(limits())).toBe(true);
  await expect.poll(woken).toBe(1);
  expect(await objects.apply(limits())).toBe(false);
  expect(writes(api)).toBe(1);
  return api;
}

it('AppliedObjects writes nothing after a restart that is as it was left', async () => {
  const api = await applied();
  const { objects } = started(api);
  expect([await objects.apply(limits()), await objects.apply(limits())]).toEqual([false, false]);
  expect(writes(api)).toBe(1);
});

it.each<[string, (api: FakeApi) => void, KubeObject]>([
  [
    'somebody changed',
    (api) => void api.put({ ...api.get('limitranges', 'team', 'limits')!, spec: { limits: [] } }, 'limitranges'),
    limits(),
  ],
  ['is to be something else now', () => {}, limits('2')],
  [
    'lacks a field that was wanted before',
    () => {},
    labelled('limits', { ...limits(), metadata: { name: 'limits', namespace: 'team' }, spec: {} }),
  ],
])('AppliedObjects writes what %s while Tenantry was away', async (_name, change, wanted) => {
  const api = await applied();
  change(api);
  const { objects } = started(api);
  expect(await objects.apply(wanted)).toBe(true);
  expect(writes(api)).toBe(2);
});
