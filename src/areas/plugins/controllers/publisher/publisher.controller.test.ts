import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { FakeApi } from '../../../../../test/support/fake-api.ts';
import { createClient } from '../../../../client/client.ts';
import { createInMemoryTransport } from '../../../../client/in-memory/in-memory-transport.ts';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { silentLog } from '../../../../lib/log.ts';
import { MetricsRegistry } from '../../../../lib/metrics.ts';
import { EventRecorder } from '../../../../runtime/event-recorder.ts';
import { SharedInformers } from '../../../../runtime/informer/shared-informers.ts';
import type { ImageRegistry } from '../../verification/image-evidence.ts';
import { publisherController } from './publisher.controller.ts';

const GOOD = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString();
const SMALL = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ type: 'spki', format: 'pem' }).toString();
const DAMAGED = '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n';
const noRegistry: ImageRegistry = {
  resolve: () => Promise.reject(new Error('not asked')),
  candidates: () => Promise.reject(new Error('not asked')),
  users: () => Promise.reject(new Error('not asked')),
};

test('a Publisher is told which of its keys cannot be used, and how many versions it has', async () => {
  const api = new FakeApi();
  const clock = new FakeClock();
  const client = createClient(createInMemoryTransport(api.handler), { clock });
  const informers = new SharedInformers({ client, log: silentLog });
  const events = new EventRecorder({ client, log: silentLog, controller: 'test', instance: 'test' });
  const own = { instance: 'test', registry: noRegistry, informers, events };
  const controller = publisherController({ client, clock, log: silentLog, metrics: new MetricsRegistry(), ...own }).start();
  const apiVersion = 'plugins.tenantry.dev/v1alpha1';
  const put = (keys: Record<string, string>) => {
    const spec = { keys: Object.entries(keys).map(([id, publicKey]) => ({ id, publicKey })) };
    api.put({ apiVersion, kind: 'Publisher', metadata: { name: 'acme' }, spec }, 'publishers');
  };
  const ready = () => api.get('publishers', '', 'acme')!.status.conditions.find(({ type }: { type: string }) => type === 'Ready');

  put({ good: GOOD, small: SMALL, damaged: DAMAGED, words: 'hello' });
  await clock.advance(0);
  expect(ready()).toMatchObject({ status: 'False', reason: 'NoUsableKey' });
  expect(ready().message).toMatch(
    /the key "small".*RSA from 2048 bits.*the key "damaged".*it is damaged.*the key "words".*no public key in PEM form/,
  );
  put({ good: GOOD });
  api.put(
    { apiVersion, kind: 'PluginVersion', metadata: { name: 'acme.a.1.0.0' }, spec: { publisher: 'acme', plugin: 'a' } },
    'pluginversions',
  );
  await clock.advance(0);
  expect(ready()).toMatchObject({ status: 'True' });
  expect(api.get('publishers', '', 'acme')!.status.versions).toBe(1);
  await controller.stop();
  await informers.stop();
});
