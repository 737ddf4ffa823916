import { expect, test } from 'vitest';
import { FakeApi } from '../../test/support/fake-api.ts';
import { createClient } from '../client/client.ts';
import { createInMemoryTransport } from '../client/in-memory/in-memory-transport.ts';
import { CoreEvent, Event } from '../client/kinds.ts';
import type { KubeObject } from '../kube/object.ts';
import { failure } from '../kube/status.ts';
import { FakeClock } from '../lib/clock-fake.ts';
import { silentLog } from '../lib/log.ts';
import { EventRecorder } from './event-recorder.ts';

function setUp(): { api: FakeApi; clock: FakeClock; recorder: EventRecorder; events: () => Promise<KubeObject[]> } {
  const api = new FakeApi();
  const clock = new FakeClock();
  const client = createClient(createInMemoryTransport(api.handler), { clock, retry: { maxRetries: 0 } });
  const recorder = new EventRecorder({ client, log: silentLog, controller: 'test/c', instance: 'i' });
  return {
    api,
    clock,
    recorder,
    async events() {
      await recorder.flush();
      return (await client.resource(Event).list()).items;
    },
  };
}

const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'x', uid: 'u1' } };
const warning = { type: 'Warning', reason: 'Failed', message: 'no room' } as const;

test('an event names its object, reporter and time', async () => {
  const { recorder, events } = setUp();
  recorder.record(pod, warning);
  expect(await events()).toMatchObject([
    {
      metadata: { namespace: 'x', name: expect.stringMatching(/^p\./) },
      regarding: { kind: 'Pod', name: 'p', namespace: 'x', uid: 'u1' },
      reason: 'Failed',
      action: 'Failed',
      note: 'no room',
      type: 'Warning',
      reportingController: 'test/c',
      reportingInstance: 'i',
      eventTime: '2026-01-01T00:00:00.000000Z',
    },
  ]);
});

test('events about cluster-scoped objects live in default', async () => {
  const { recorder, events } = setUp();
  recorder.record({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }, warning);
  expect((await events())[0].metadata.namespace).toBe('default');
});

test('a repeat is counted in the same event, and told again at most every half minute', async () => {
  const { api, clock, recorder, events } = setUp();
  for (let i = 0; i < 100; i++) {
    recorder.record(pod, warning);
    await clock.advance(1000);
  }
  const all = await events();
  expect(all).toHaveLength(1);
  expect(all[0].series.count).toBeGreaterThan(60);
  expect(api.requests.filter(({ method }) => method === 'PATCH').length).toBeLessThan(6);
});

test('the same event long after is a new one', async () => {
  const { clock, recorder, events } = setUp();
  recorder.record(pod, warning);
  await clock.advance(6 * 60_000);
  recorder.record(pod, warning);
  expect(await events()).toHaveLength(2);
});

test('an object gets 25 different events at once and one per five minutes after that', async () => {
  const { clock, recorder, events } = setUp();
  for (let i = 0; i < 40; i++) recorder.record(pod, { ...warning, message: `no room ${i}` });
  expect(await events()).toHaveLength(25);
  await clock.advance(300_000);
  for (let i = 0; i < 5; i++) recorder.record(pod, { ...warning, message: `later ${i}` });
  expect(await events()).toHaveLength(26);
});

test('an event that cannot be written is dropped, and the next one is written', async () => {
  const { api, recorder, events } = setUp();
  api.intercept = () => {
    throw failure('Forbidden', 'no');
  };
  recorder.record(pod, warning);
  await recorder.flush();
  api.intercept = () => {};
  recorder.record(pod, { ...warning, message: 'other' });
  expect(await events()).toHaveLength(1);
});

test('a recorder with a core source, writes Events of the core group and counts repeats in them', async () => {
  const api = new FakeApi();
  const client = createClient(createInMemoryTransport(api.handler), { clock: new FakeClock(), retry: { maxRetries: 0 } });
  const recorder = new EventRecorder({ client, log: silentLog, controller: 'test/c', instance: 'i', coreSource: 'hnc.x-k8s.io' });
  recorder.record(pod, warning);
  recorder.record(pod, warning);
  await recorder.flush();
  expect((await client.resource(CoreEvent).list()).items).toMatchObject([
    { source: { component: 'hnc.x-k8s.io' }, involvedObject: { name: 'p', uid: 'u1' }, message: 'no room', count: 2 },
  ]);
});
