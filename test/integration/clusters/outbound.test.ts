import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { ConfigMap, Pod, Service, ValidatingWebhookConfiguration } from '../../../src/client/kinds.ts';
import { ClusterWorld } from './cluster-world.ts';

/** An administrator of a cluster leads its API server to what only the machine reaches. */
let world: ClusterWorld;
let tenant: Client;
let secret: Server;
let asked = 0;

beforeAll(async () => {
  world = await ClusterWorld.start({ network: 'off' });
  await world.host.tenant('acme', { owners: [{ kind: 'User', name: 'alice' }] });
  tenant = (await world.made('acme', 'dev', { controlPlane: { provider: 'embedded' } })).tenantClient;
  secret = createServer((_request, response) => {
    asked++;
    response.end('for the platform alone');
  }).listen(0, '0.0.0.0');
  await new Promise((resolve) => secret.once('listening', resolve));
}, 60_000);
afterAll(async () => {
  secret?.close();
  await world?.stop();
}, 60_000);

const port = () => (secret.address() as AddressInfo).port;
const ownAddress = () =>
  Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '10.11.12.13';

it('is not led to the machine by the address of a Pod', async () => {
  const pods = tenant.resource(Pod, 'default');
  await pods.create({ metadata: { name: 'liar' }, spec: { containers: [{ name: 'a', image: 'a' }] } });
  for (const podIP of [ownAddress(), '100.64.0.2']) {
    await pods.status.patch('liar', { type: 'merge', patch: { status: { podIP, podIPs: [{ ip: podIP }] } } });
    await expect(tenant.request({ method: 'GET', path: `/api/v1/namespaces/default/pods/liar:${port()}/proxy/` })).rejects.toThrow(
      /not allowed/,
    );
  }
});

// getaddrinfo takes the number for 127.0.0.1.
it('is not led to the machine by the name of a Service', async () => {
  const spec = { type: 'ExternalName' as const, externalName: '2130706433', ports: [{ port: port() }] };
  await tenant.resource(Service, 'default').create({ metadata: { name: 'elsewhere' }, spec });
  await expect(tenant.request({ method: 'GET', path: `/api/v1/namespaces/default/services/elsewhere:${port()}/proxy/` })).rejects.toThrow(
    /not allowed/,
  );
});

it.each(['127.0.0.1', 'localhost'])('is not led to the machine by a webhook at %s', async (host) => {
  const name = `hook-${host.replaceAll('.', '-')}`;
  await tenant.resource(ValidatingWebhookConfiguration).create({
    metadata: { name },
    webhooks: [
      {
        name: 'hook.example.com',
        clientConfig: { url: `https://${host}:${port()}/` },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        failurePolicy: 'Fail',
      },
    ],
  });
  const create = () => tenant.resource(ConfigMap, 'default').create({ metadata: { name: 'any' } });
  await world.host.eventually(async () => (await create().catch((error: Error) => error.message.includes('not allowed'))) === true);
  await tenant.resource(ValidatingWebhookConfiguration).delete(name);
});

it('has not asked it anything', () => {
  expect(asked).toBe(0);
});
