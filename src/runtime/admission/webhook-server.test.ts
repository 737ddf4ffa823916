import { request } from 'node:https';
import { connect, type TLSSocket } from 'node:tls';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { makeTestPki, type TestPki } from '../../../test/conformance/transport/certificates.ts';
import { FakeClock } from '../../lib/clock-fake.ts';
import { silentLog } from '../../lib/log.ts';
import { startWebhookServer, type WebhookServer } from './webhook-server.ts';

let server: WebhookServer;
let current: TestPki;
let clock: FakeClock;
beforeEach(async () => {
  current = await makeTestPki();
  clock = new FakeClock();
  server = await startWebhookServer({
    handlers: { '/validate': (review) => ({ allowed: review.operation !== 'DELETE', message: 'never delete' }) },
    certificate: () => Promise.resolve(current.server),
    host: '127.0.0.1',
    port: 0,
    clock,
    log: silentLog,
  });
});
afterEach(() => server.stop());

function send(method: string, path: string, body = ''): Promise<{ status: number; body: string; fingerprint: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: server.port, method, path, ca: current.caPem, agent: false }, (response) => {
      const { fingerprint } = (response.socket as TLSSocket).getPeerCertificate();
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode!, body: text, fingerprint }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const review = (operation: string): string =>
  JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { uid: 'u', operation } });

test('reviews are answered by the handler of their path', async () => {
  expect(JSON.parse((await send('POST', '/validate?timeout=5s', review('CREATE'))).body).response).toEqual({ uid: 'u', allowed: true });
  expect(JSON.parse((await send('POST', '/validate', review('DELETE'))).body).response).toMatchObject({
    allowed: false,
    status: { message: 'never delete' },
  });
});

test.each([
  ['POST', '/other', '', 404],
  ['GET', '/validate', '', 405],
  ['POST', '/validate', 'not json', 400],
  ['POST', '/validate', '{}', 400],
  ['GET', '/healthz', '', 200],
])('%s %s with "%s" is answered %i', async (method, path, body, status) => {
  expect((await send(method, path, body)).status).toBe(status);
});

test('a renewed certificate is taken up within a minute', async () => {
  const before = (await send('GET', '/healthz')).fingerprint;
  current = await makeTestPki();
  await clock.advance(60_000);
  await vi.waitFor(async () => expect((await send('GET', '/healthz')).fingerprint).not.toBe(before));
});

test('stop does not wait for a connection that was opened ahead of its request', async () => {
  const socket = connect({ host: '127.0.0.1', port: server.port, ca: current.caPem });
  await once(socket, 'secureConnect');
  const closed = once(socket.resume(), 'close');
  await server.stop();
  await closed;
});
