import { afterEach, describe, expect, it } from 'vitest';
import { TEST_CA } from '../../../src/engine/apiserver/admission/testing/certificates.ts';
import { startWebhookServer, type WebhookServer } from '../../../src/engine/apiserver/admission/testing/webhook-server.ts';
import type { Json } from '../../../src/kube/object.ts';
import { startServerInMemory, type InMemoryServer } from './server-in-memory.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GROUP = 'stable.example.com';
const path = (version: string) => `/apis/${GROUP}/${version}/namespaces/default/hosts`;

let webhook: WebhookServer | undefined;
let server: InMemoryServer | undefined;

afterEach(async () => {
  server?.close();
  await webhook?.close();
});

/** v1 has one `address`, v2 has `host` and `port`. */
function convert(object: Json, apiVersion: string): Json {
  const { address, host, port } = object.spec;
  const spec = apiVersion.endsWith('/v2') ? { host: address.split(':')[0], port: address.split(':')[1] } : { address: `${host}:${port}` };
  return { ...object, apiVersion, spec };
}

function version(name: string, storage: boolean, fields: string[]) {
  const properties = Object.fromEntries(fields.map((field) => [field, { type: 'string' }]));
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } };
  return { name, served: true, storage, schema };
}

async function setUp(respond: (request: Json) => Json): Promise<InMemoryServer> {
  webhook = await startWebhookServer(respond);
  server = await startServerInMemory();
  const clientConfig = { url: `https://localhost:${webhook.port}/convert`, caBundle: Buffer.from(TEST_CA).toString('base64') };
  const answer = await server.call('POST', DEFINITIONS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `hosts.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'hosts', kind: 'Host' },
      versions: [version('v1', true, ['address']), version('v2', false, ['host', 'port'])],
      conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
    },
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  for (let turn = 0; turn < 30; turn++) await new Promise(setImmediate);
  return server;
}

const host = (apiVersion: string, name: string, spec: object) => ({
  apiVersion: `${GROUP}/${apiVersion}`,
  kind: 'Host',
  metadata: { name },
  spec,
});

describe('definitions with a conversion webhook', () => {
  it('objects, are stored in one version and served in each, through the webhook', async () => {
    const { call } = await setUp(({ objects, desiredAPIVersion }) => ({
      result: { status: 'Success' },
      convertedObjects: objects.map((object: Json) => convert(object, desiredAPIVersion)),
    }));
    expect((await call('POST', path('v2'), host('v2', 'a', { host: 'one', port: '80' }))).body.spec).toEqual({ host: 'one', port: '80' });
    expect((await call('GET', `${path('v1')}/a`)).body.spec).toEqual({ address: 'one:80' });
    const patched = await call('PATCH', `${path('v2')}/a`, { spec: { port: '443' } }, 'application/merge-patch+json');
    expect(patched.body.spec).toEqual({ host: 'one', port: '443' });
    expect((await call('GET', path('v2'))).body.items[0].spec).toEqual({ host: 'one', port: '443' });
    expect((await call('GET', `${path('v1')}/a`)).body.spec).toEqual({ address: 'one:443' });
  });

  it('a write, is refused with the reason and stores nothing, when the webhook cannot convert', async () => {
    const { call, store } = await setUp(() => ({ result: { status: 'Failure', message: 'no idea' } }));
    const answer = await call('POST', path('v2'), host('v2', 'a', { host: 'one', port: '80' }));
    expect(answer.status).toBe(500);
    expect(answer.body.message).toContain(`conversion webhook for ${GROUP}/v2, Kind=Host failed: no idea`);
    expect(store.count(`${GROUP}/hosts/`)).toBe(0);
  });
});
