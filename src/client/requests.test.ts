import { expect, test } from 'vitest';
import { FakeClock } from '../lib/clock-fake.ts';
import { failure } from '../kube/status.ts';
import { createClient, type Client } from './client.ts';
import { ConfigMap } from './kinds.ts';
import { TransportError } from './transport-error.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

type Answer = TransportResponse | Error;

function answered(...answers: Answer[]): { client: Client; sent: TransportRequest[]; clock: FakeClock; warnings: string[] } {
  const sent: TransportRequest[] = [];
  const clock = new FakeClock();
  const warnings: string[] = [];
  const transport: Transport = {
    request(request) {
      sent.push(request);
      const answer = answers.length > 1 ? answers.shift()! : answers[0];
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    watch: () => Promise.reject(new Error('not scripted')),
    close: () => Promise.resolve(),
  };
  const client = createClient(transport, { clock, random: () => 0, onWarning: (text) => warnings.push(text) });
  return { client, sent, clock, warnings };
}

const ok: TransportResponse = { status: 200, headers: {}, body: { kind: 'ConfigMap', metadata: { name: 'a' } } };
const busy = (seconds?: string): TransportResponse => ({
  status: 429,
  headers: seconds === undefined ? {} : { 'retry-after': seconds },
  body: failure('TooManyRequests', 'too many').status,
});
const broken: TransportResponse = { status: 500, headers: {}, body: failure('InternalError', 'oops').status };
const unreachable = new TransportError('Unreachable', 'refused');
const lost = new TransportError('ConnectionLost', 'cut');

type Call = (client: Client) => Promise<unknown>;
const get: Call = (client) => client.resource(ConfigMap, 'default').get('a');
const create: Call = (client) => client.resource(ConfigMap, 'default').create({ metadata: { name: 'a' } });
const apply: Call = (client) => client.resource(ConfigMap, 'default').apply({ metadata: { name: 'a' } }, { fieldManager: 'test' });

test.each<[string, Call, Answer, number]>([
  ['a read is repeated after 500', get, broken, 100],
  ['a read is repeated after a broken connection', get, lost, 100],
  ['an apply is repeated after a broken connection', apply, lost, 100],
  ['a create is repeated when nothing was sent', create, unreachable, 100],
  ['a create is repeated after 429, when the server says', create, busy('3'), 3000],
  ['a read is repeated after 429 with back-off when the server does not say', get, busy(), 100],
])('%s', async (_name, call, first, waits) => {
  const { client, sent, clock } = answered(first, ok);
  const calling = call(client);
  await clock.advance(waits - 1);
  expect(sent).toHaveLength(1);
  await clock.advance(1);
  await calling;
  expect(sent).toHaveLength(2);
});

test.each<[string, Call, Answer, object]>([
  ['a create is not repeated after 500', create, broken, { reason: 'InternalError' }],
  ['a create is not repeated after a broken connection', create, lost, { code: 'ConnectionLost' }],
  ['a pause longer than a minute is not waited for', get, busy('61'), { code: 429 }],
])('%s', async (_name, call, answer, error) => {
  const { client, sent } = answered(answer);
  await expect(call(client)).rejects.toMatchObject(error);
  expect(sent).toHaveLength(1);
});

test('a request that is sent once is not repeated, whatever the answer', async () => {
  for (const answer of [broken, busy('1'), unreachable]) {
    const { client, sent } = answered(answer, ok);
    await expect(client.request({ method: 'GET', path: '/version', once: true })).rejects.toThrow();
    expect(sent).toHaveLength(1);
  }
});

test('retries end after five, with the last refusal', async () => {
  const { client, sent, clock } = answered(broken);
  const failed = get(client);
  failed.catch(() => {});
  await clock.advance(60_000);
  await expect(failed).rejects.toMatchObject({ code: 500 });
  expect(sent).toHaveLength(6);
});

test('a pause between retries ends when the signal fires', async () => {
  const { client } = answered(broken);
  const controller = new AbortController();
  const failed = client.resource(ConfigMap, 'default').get('a', { signal: controller.signal });
  setImmediate(() => controller.abort());
  await expect(failed).rejects.toMatchObject({ code: 'Aborted' });
});

test('an attempt ends with Timeout when no answer comes', async () => {
  const clock = new FakeClock();
  const transport: Transport = {
    request: (request) =>
      new Promise((_resolve, reject) => {
        request.signal?.addEventListener('abort', () => reject(new TransportError('Timeout', String(request.signal?.reason))));
      }),
    watch: () => Promise.reject(new Error('not scripted')),
    close: () => Promise.resolve(),
  };
  const failed = createClient(transport, { clock, timeoutMs: 500 }).resource(ConfigMap, 'x').get('a');
  failed.catch(() => {});
  await clock.advance(500);
  await expect(failed).rejects.toMatchObject({ code: 'Timeout' });
});

test('warnings of an answer reach the callback', async () => {
  const { client, warnings } = answered({ ...ok, headers: { warning: '299 - "unknown field \\"spec.x\\"", 299 - "v1 is old, use v2"' } });
  await get(client);
  expect(warnings).toEqual(['unknown field "spec.x"', 'v1 is old, use v2']);
});

test('a list whose items are null is empty', async () => {
  const { client } = answered({ status: 200, headers: {}, body: { kind: 'List', metadata: {}, items: null } });
  expect((await client.resource(ConfigMap).list()).items).toEqual([]);
});

test('a refusal that is not a Status still tells its code', async () => {
  const { client } = answered({ status: 404, headers: {}, body: '404 page not found\n' });
  await expect(get(client)).rejects.toMatchObject({ code: 404, reason: 'NotFound', message: '404 page not found' });
});

test.each<[string, Call, Partial<TransportRequest>]>([
  [
    'create fills in apiVersion and kind and writes to the namespace of the object',
    (client) => client.resource(ConfigMap).create({ metadata: { name: 'a', namespace: 'team/x' } }, { dryRun: true, fieldManager: 'me' }),
    {
      method: 'POST',
      path: '/api/v1/namespaces/team%2Fx/configmaps',
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'team/x' } },
      query: { fieldManager: 'me', fieldValidation: undefined, dryRun: 'All' },
    },
  ],
  [
    'list joins selectors',
    (client) => client.resource(ConfigMap).list({ labelSelector: { a: 'b', c: 'd' }, limit: 5 }),
    { method: 'GET', path: '/api/v1/configmaps', query: { labelSelector: 'a=b,c=d', limit: '5' } },
  ],
  [
    'delete sends its options as a body',
    (client) =>
      client.resource(ConfigMap, 'x').delete('a', { propagationPolicy: 'Foreground', preconditions: { uid: 'u' }, gracePeriodSeconds: 0 }),
    {
      method: 'DELETE',
      path: '/api/v1/namespaces/x/configmaps/a',
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        gracePeriodSeconds: 0,
        propagationPolicy: 'Foreground',
        preconditions: { uid: 'u' },
      },
    },
  ],
  [
    'a subresource patch says its type',
    (client) =>
      client
        .resource(ConfigMap, 'x')
        .subresource('scale')
        .patch('a', { type: 'json', patch: [{ op: 'remove', path: '/spec' }] }),
    { method: 'PATCH', path: '/api/v1/namespaces/x/configmaps/a/scale', contentType: 'application/json-patch+json' },
  ],
  [
    'metadata asks for PartialObjectMetadata',
    (client) => client.metadata(ConfigMap).list(),
    { headers: { Accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' } },
  ],
])('%s', async (_name, call, expected) => {
  const { client, sent } = answered(ok);
  await call(client);
  expect(sent[0]).toMatchObject(expected);
});

test('a request that waits for its next try, ends, when the client is closed', async () => {
  const { client, sent } = answered(busy('60'));
  const request = get(client);
  await expect.poll(() => sent.length).toBe(1);
  await client.close();
  await expect(request).rejects.toMatchObject({ code: 'Closed' });
});
