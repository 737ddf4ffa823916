import { describe, expect, test } from 'vitest';
import { createClient } from '../../../client/client.ts';
import { createInMemoryTransport } from '../../../client/in-memory/in-memory-transport.ts';
import { CoreEvent } from '../../../client/kinds.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import { FakeApi } from '../../../../test/support/fake-api.ts';
import { PodEventRecorder } from './pod-events.ts';
import { aPod } from './testing/a-pod.ts';

function aRecorder() {
  const clock = new FakeClock();
  const api = new FakeApi();
  const client = createClient(createInMemoryTransport(api.handler), { clock });
  const recorder = new PodEventRecorder({ client, log: silentLog, nodeName: 'box' });
  const events = async () => (await client.resource(CoreEvent, 'shop').list()).items;
  return { clock, api, recorder, events };
}

describe('PodEventRecorder', () => {
  test('tells what a kubelet would', async () => {
    const { clock, recorder, events } = aRecorder();
    recorder.record(aPod(), 'Normal', 'Started', 'Container started', 'c');
    await clock.advance(1000);
    expect(await events()).toMatchObject([
      {
        involvedObject: { kind: 'Pod', name: 'web', namespace: 'shop', fieldPath: 'spec.containers{c}' },
        type: 'Normal',
        reason: 'Started',
        message: 'Container started',
        source: { component: 'kubelet', host: 'box' },
        count: 1,
      },
    ]);
  });

  test('counts what repeats itself', async () => {
    const { clock, recorder, events } = aRecorder();
    recorder.record(aPod(), 'Warning', 'BackOff', 'again');
    await clock.advance(1000);
    for (let times = 0; times < 3; times++) recorder.record(aPod(), 'Warning', 'BackOff', 'again');
    await clock.advance(1000);
    const [event, ...others] = await events();
    expect(others).toEqual([]);
    expect(event.count).toBe(4);
  });

  test('keeps different things apart', async () => {
    const { clock, recorder, events } = aRecorder();
    recorder.record(aPod(), 'Warning', 'Failed', 'this', 'c');
    recorder.record(aPod(), 'Warning', 'Failed', 'that', 'c');
    await clock.advance(1000);
    expect(await events()).toHaveLength(2);
  });

  test('stops listening to one that never stops talking', async () => {
    const { clock, recorder, events } = aRecorder();
    for (let number = 0; number < 100; number++) recorder.record(aPod(), 'Warning', 'Unhealthy', `probe ${number} failed`);
    await clock.advance(1000);
    expect(await events()).toHaveLength(25);
    await clock.advance(600_000);
    for (let number = 0; number < 100; number++) recorder.record(aPod(), 'Warning', 'Unhealthy', `later ${number} failed`);
    await clock.advance(1000);
    expect(await events()).toHaveLength(27);
  });

  test('drops what cannot be written', async () => {
    const { clock, api, recorder, events } = aRecorder();
    api.intercept = ({ method }) => {
      if (method === 'POST') throw Object.assign(new Error('no'), {});
    };
    recorder.record(aPod(), 'Normal', 'Started', 'lost');
    await clock.advance(60_000);
    api.intercept = () => {};
    recorder.record(aPod(), 'Normal', 'Started', 'kept');
    await clock.advance(1000);
    expect((await events()).map(({ message }) => message)).toEqual(['kept']);
  });

  test('cuts what is too long', async () => {
    const { clock, recorder, events } = aRecorder();
    recorder.record(aPod(), 'Warning', 'Failed', 'x'.repeat(5000));
    await clock.advance(1000);
    expect((await events())[0].message).toHaveLength(1024);
  });
});
