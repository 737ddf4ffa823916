import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createClient, type Client } from '../../../src/client/client.ts';
import { certificateCredentials, tokenCredentials, type Credentials } from '../../../src/client/config/credentials.ts';
import { createHttpTransport } from '../../../src/client/http/http-transport.ts';
import { CertificateSigningRequest, ClusterRole, ClusterRoleBinding, Node, Secret } from '../../../src/client/kinds.ts';
import { TenantWorkers } from '../../../src/areas/clusters/workers/tenant-workers.ts';
import { tokenId, tokenSecret } from '../../../src/areas/clusters/workers/model/bootstrap-token.ts';
import type { Worker } from '../../../src/areas/clusters/workers/model/pool-plan.ts';
import { WORKER_RIGHTS } from '../../../src/areas/clusters/workers/worker-rights.ts';
import { NodeIdentity } from '../../../src/engine/node/join/node-identity.ts';
import { KUBELET_SERVING_SIGNER, requestCertificate } from '../../../src/engine/node/join/request-certificate.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { createCertificateRequest } from '../../../src/lib/pki/certificate-request.ts';
import { generateKeys } from '../../../src/lib/pki/key-files.ts';
import { SharedInformers } from '../../../src/runtime/informer/shared-informers.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../support/embedded-target.ts';

/** The control plane of a tenant's cluster, the platform that looks after its workers, and workers that tell the truth or do not. */
const CLUSTER = 'u1';
const WORKERS: Worker[] = ['11111', '22222'].map((suffix, index) => ({
  name: `dev-a-${suffix}`,
  pool: 'a',
  address: `10.0.1.1${index}`,
  mac: '',
  phase: 'Pending',
}));
const [one, two] = WORKERS;

let target: EmbeddedTarget;
let platform: Client;
let informers: SharedInformers;
let workers: TenantWorkers;
let authority: string;
const closers: (() => unknown)[] = [];

function clientWith(credentials: Credentials): Client {
  const transport = createHttpTransport({
    endpoint: { url: new URL(target.engine.url) },
    ca: () => Promise.resolve(authority),
    credentials,
  });
  const client = createClient(transport);
  closers.push(() => client.close());
  return client;
}

function identityOf(worker: Pick<Worker, 'name' | 'address'>, token: string | undefined): { identity: NodeIdentity; client: Client } {
  const directory = mkdtempSync(join(tmpdir(), 'tenantry-join-'));
  const client = clientWith(certificateCredentials(() => identity.client()));
  const identity = new NodeIdentity({
    directory,
    name: worker.name,
    addresses: [worker.address],
    authorities: () => authority,
    bootstrapClient: token === undefined ? undefined : () => clientWith(tokenCredentials(token)),
    nodeClient: () => client,
    clock: realClock,
    random: Math.random,
    log: silentLog,
  });
  closers.push(
    () => identity.stop(),
    () => rmSync(directory, { recursive: true, force: true }),
  );
  return { identity, client };
}

beforeAll(async () => {
  target = await startEmbeddedTarget();
  const pem = (file: string) => readFileSync(join(target.data, 'pki', file), 'utf8');
  authority = pem('ca.crt');
  platform = clientWith(certificateCredentials(() => Promise.resolve({ cert: pem('admin.crt'), key: pem('admin.key') })));
  informers = new SharedInformers({ client: platform, log: silentLog });
  for (const object of WORKER_RIGHTS.objects) {
    const kind = object.kind === 'ClusterRole' ? ClusterRole : ClusterRoleBinding;
    await platform.resource<KubeObject>(kind).apply(object, { fieldManager: 'test' });
  }
  workers = new TenantWorkers({
    tenantClient: platform,
    informers,
    cluster: CLUSTER,
    workers: () => WORKERS,
    wake: () => {},
    clock: realClock,
    log: silentLog,
  });
  await workers.whenSynced();
});
afterEach(async () => {
  for (const { name } of WORKERS) await workers.removeNode(name);
});
afterAll(async () => {
  await informers.stop();
  for (const close of closers.toReversed()) await close();
  await target.close();
});

it('a worker gets the certificates of its name and address for its token, and is the node of that name', async () => {
  const { identity, client } = identityOf(one, await workers.token(one, true));
  const { cert } = await identity.client();
  expect(new X509Certificate(cert).subject).toContain('CN=system:node:dev-a-11111');
  const serving = new X509Certificate((await identity.serving()).certificatePem);
  expect(serving.checkIP('10.0.1.10')).toBe('10.0.1.10');
  await client.resource(Node).create({ metadata: { name: one.name } });
  await expect.poll(() => workers.node(one.name)).toBeDefined();
});

it('the token of a worker is the same until it is over, and none is made for one that had its time', async () => {
  const token = await workers.token(one, true);
  expect(await workers.token(one, false)).toBe(token);
  await workers.removeToken(one.name);
  expect(await workers.token(one, false)).toBeUndefined();
});

it.each([
  ['its name', two.name, 'worker "dev-a-11111" asks for a certificate of "system:node:dev-a-22222"'],
  ['its name, with one that nobody has', 'made-up', 'worker "dev-a-11111" asks for a certificate of "system:node:made-up"'],
])('a worker that lies about %s gets nothing', async (_about, name, message) => {
  const { identity } = identityOf({ ...one, name }, await workers.token(one, true));
  await expect(identity.client()).rejects.toThrow(message);
});

it('a worker that lies about its address gets no certificate for it', async () => {
  const { identity } = identityOf({ ...one, address: '10.0.1.99' }, await workers.token(one, true));
  await identity.client();
  await expect(identity.serving()).rejects.toThrow(
    'worker "dev-a-11111" has the address 10.0.1.10, and asks for a certificate for "10.0.1.99"',
  );
});

it('a token that has expired is no token', async () => {
  const id = tokenId(CLUSTER, one.name);
  await platform.resource<KubeObject>(Secret, 'kube-system').create(tokenSecret(id, '0123456789abcdef', one.name, Date.now() - 3_600_000));
  const { identity } = identityOf(one, `${id}.0123456789abcdef`);
  await expect(identity.client()).rejects.toThrow('the token is not valid, or no longer; ask for a new one');
});

it('a node cannot ask for the certificate of another', async () => {
  const { client, identity } = identityOf(one, await workers.token(one, true));
  await identity.client();
  const asked = requestCertificate(
    client,
    { signerName: KUBELET_SERVING_SIGNER, name: two.name, addresses: [two.address] },
    generateKeys(),
  );
  await expect(asked).rejects.toThrow('can only create a node CSR with CN=system:node:dev-a-11111');
});

it('a token may ask for a certificate, and nothing else', async () => {
  const client = clientWith(tokenCredentials((await workers.token(one, true))!));
  await expect(client.resource(Secret, 'kube-system').list()).rejects.toThrow('forbidden');
  await expect(client.resource(Node).create({ metadata: { name: one.name } })).rejects.toThrow('forbidden');
});

it('requests that are nothing to do with workers wait for the administrators of the cluster', async () => {
  const keys = generateKeys();
  const request = createCertificateRequest({ commonName: 'system:node:laptop', organizations: ['system:nodes'] }, keys, {
    dnsNames: ['laptop'],
  });
  await platform.resource(CertificateSigningRequest).create({
    metadata: { name: 'laptop' },
    spec: {
      request: Buffer.from(request).toString('base64'),
      signerName: KUBELET_SERVING_SIGNER,
      usages: ['digital signature', 'server auth'],
    },
  });
  // One that is answered came after it.
  await identityOf(two, await workers.token(two, true)).identity.client();
  expect((await platform.resource(CertificateSigningRequest).get('laptop')).status?.conditions).toBeUndefined();
});
