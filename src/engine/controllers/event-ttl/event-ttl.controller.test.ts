import { expect, test } from 'vitest';
import { FakeApi } from '../../../../test/support/fake-api.ts';
import { createClient } from '../../../client/client.ts';
import { createInMemoryTransport } from '../../../client/in-memory/in-memory-transport.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import type { Environment } from '../environment.ts';
import { eventTtlController, lastWritten } from './event-ttl.controller.ts';

test('events go an hour after they were last written, not before', async () => {
  const api = new FakeApi();
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const client = createClient(createInMemoryTransport(api.handler), { clock });
  const event = (name: string, more: object): void => {
    const metadata = { name, namespace: 'x', creationTimestamp: '2026-01-01T00:00:00Z' };
    api.put({ apiVersion: 'v1', kind: 'Event', metadata, ...more }, 'events');
  };
  event('once', {});
  event('repeated', { series: { count: 2, lastObservedTime: '2026-01-01T00:30:00.000000Z' } });
  const running = eventTtlController({ client, clock, log: silentLog } as unknown as Environment);
  await clock.advance(59 * 60_000);
  expect(api.get('events', 'x', 'once')).toBeDefined();
  await clock.advance(6 * 60_000);
  expect(api.get('events', 'x', 'once')).toBeUndefined();
  expect(api.get('events', 'x', 'repeated')).toBeDefined();
  await clock.advance(30 * 60_000);
  expect(api.get('events', 'x', 'repeated')).toBeUndefined();
  await running.stop();
  expect(clock.pendingTimers).toBe(0);
});

test('the newest time that an event tells of counts', () => {
  const event = {
    metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
    lastTimestamp: '2026-01-01T02:00:00Z',
    eventTime: null,
  } as unknown as KubeObject;
  expect(lastWritten(event)).toBe(Date.parse('2026-01-01T02:00:00Z'));
});
