import { expect, test } from 'vitest';
import { FakeApi } from '../../../../test/support/fake-api.ts';
import { createClient } from '../../../client/client.ts';
import { createInMemoryTransport } from '../../../client/in-memory/in-memory-transport.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { Environment } from '../environment.ts';
import { bootstrapTokenController, timeLeft } from './bootstrap-token.controller.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('a token goes when it expires, and one without an end stays', async () => {
  const api = new FakeApi();
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const client = createClient(createInMemoryTransport(api.handler), { clock });
  const informers = new SharedInformers({ client, log: silentLog });
  const token = (name: string, data: object): void => {
    api.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'kube-system' }, data }, 'secrets');
  };
  token('short', { expiration: base64('2026-01-01T01:00:00Z') });
  token('endless', {});
  const running = bootstrapTokenController({ client, clock, log: silentLog, informers } as unknown as Environment);
  await clock.advance(3_599_000);
  expect(api.get('secrets', 'kube-system', 'short')).toBeDefined();
  await clock.advance(1000);
  expect(api.get('secrets', 'kube-system', 'short')).toBeUndefined();
  expect(api.get('secrets', 'kube-system', 'endless')).toBeDefined();
  await running.stop();
});

test('a time that cannot be read counts as expired', () => {
  expect(timeLeft({ data: { expiration: base64('soon') } } as unknown as KubeObject, 0)).toBe(0);
});
