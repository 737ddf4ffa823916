import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KUBECONFIG_KEY, kubeconfigSecretOf } from '../../../src/api/tenantry.dev/v1alpha1/cluster-names.ts';
import { tokenSecret } from '../../../src/areas/clusters/workers/model/bootstrap-token.ts';
import { WORKER_RIGHTS } from '../../../src/areas/clusters/workers/worker-rights.ts';
import { createClient, type Client } from '../../../src/client/client.ts';
import { certificateCredentials, tokenCredentials, type Credentials } from '../../../src/client/config/credentials.ts';
import { parseKubeconfig } from '../../../src/client/config/kubeconfig-file.ts';
import { createHttpTransport } from '../../../src/client/http/http-transport.ts';
import {
  CertificateSigningRequest,
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Event,
  Namespace,
  Secret,
} from '../../../src/client/kinds.ts';
import { NodeIdentity } from '../../../src/engine/node/join/node-identity.ts';
import { NodeTrust } from '../../../src/engine/node/join/node-trust.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { ClusterWorld, conditionOf } from './cluster-world.ts';

const LONG = { timeout: 120_000 };
const NODE = 'dev-a-11111';
const ADDRESS = '10.0.1.10';
let world: ClusterWorld;
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  world = await ClusterWorld.start({ network: 'off' });
  await world.host.tenant('acme', { owners: [{ kind: 'User', name: 'alice' }] });
}, 60_000);
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
  await world?.stop();
}, 60_000);

async function authorityHandedOut(): Promise<string> {
  const secret = await world.host.client.resource(Secret, 'acme').get(kubeconfigSecretOf('dev'));
  const { clusters } = (await parseKubeconfig(Buffer.from(secret.data![KUBECONFIG_KEY], 'base64').toString('utf8'))) as unknown as {
    clusters: { cluster: { 'certificate-authority-data': string } }[];
  };
  return Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64').toString('utf8');
}

/** A worker as far as its certificates go, told of the cluster what is handed out now. */
async function aWorker(endpoint: string, admin: Client): Promise<{ trust: NodeTrust; identity: NodeIdentity; client: Client }> {
  for (const object of WORKER_RIGHTS.objects) {
    const kind = object.kind === 'ClusterRole' ? ClusterRole : ClusterRoleBinding;
    await admin.resource<KubeObject>(kind).apply(object, { fieldManager: 'test' });
  }
  await admin.resource<KubeObject>(Secret, 'kube-system').create(tokenSecret('abcdef', '0123456789abcdef', NODE, Date.now()));
  const clientWith = (credentials: Credentials): Client => {
    const client = createClient(
      createHttpTransport({ endpoint: { url: new URL(endpoint) }, ca: () => Promise.resolve(trust.pem), credentials }),
    );
    closers.push(() => client.close());
    return client;
  };
  const directory = mkdtempSync(join(tmpdir(), 'tenantry-certificates-'));
  closers.push(() => rmSync(directory, { recursive: true, force: true }));
  const environment = { clock: realClock, log: silentLog };
  const given = await authorityHandedOut();
  const trust: NodeTrust = await NodeTrust.open({ ...environment, path: join(directory, 'authorities.json'), given, client: () => client });
  const identity: NodeIdentity = new NodeIdentity({
    ...environment,
    directory,
    name: NODE,
    addresses: [ADDRESS],
    authorities: () => trust.pem,
    bootstrapClient: () => clientWith(tokenCredentials('abcdef.0123456789abcdef')),
    nodeClient: () => client,
    random: Math.random,
  });
  const client = clientWith(certificateCredentials(() => identity.client()));
  trust.onChange(() => void identity.authoritiesChanged());
  closers.push(() => identity.stop());
  return { trust, identity, client };
}

/** Says yes to whoever asks, until it is told to stop. */
function approveAll(admin: Client): void {
  const stop = new AbortController();
  closers.push(() => stop.abort());
  const approve = async () => {
    for await (const update of admin.resource(CertificateSigningRequest).watch({ signal: stop.signal })) {
      if (!('object' in update) || update.type === 'DELETED' || update.object.status?.conditions !== undefined) continue;
      const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: '' }];
      const approved = { ...update.object, status: { ...update.object.status, conditions } };
      await admin
        .resource(CertificateSigningRequest)
        .subresource<typeof approved>('approval')
        .update(update.object.metadata.name!, approved);
    }
  };
  approve().catch(() => {});
}

it(
  'authorities of a cluster are replaced, workers and kubeconfigs follow, and those of before end when they are revoked',
  LONG,
  async () => {
    const { cluster, tenantClient: former } = await world.made('acme', 'dev');
    expect(conditionOf(cluster, 'CertificatesValid')).toMatchObject({ status: 'True', reason: 'Valid' });
    await former.resource(Namespace).create({ metadata: { name: 'kept' } });
    approveAll(former);
    const worker = await aWorker(cluster.status!.endpoint!, former);
    const issuer = async () => new X509Certificate((await worker.identity.client()).cert).issuer;
    expect(await issuer()).toBe('CN=tenantry-ca');

    await world.patch('acme', 'dev', { certificates: { authorities: 1 } });
    const rotated = await world.ready('acme', 'dev');
    expect(conditionOf(rotated, 'CertificatesValid')).toMatchObject({ status: 'True', reason: 'Overlapping' });
    expect(rotated.status?.authorities).toMatchObject({ edition: 2, formerTrustedUntil: expect.any(String) });
    const current = await world.inside('acme', 'dev');
    await current.resource(Namespace).get('kept');
    // Handed out before, it is good and takes the server for the right one.
    await former.resource(Namespace).get('kept');
    approveAll(current);
    await world.host.eventually(async () => {
      await worker.trust.look();
      return (await issuer()) === 'CN=tenantry-ca-2';
    });

    await world.patch('acme', 'dev', { certificates: { revoke: 1 } });
    const revoked = await world.ready('acme', 'dev');
    expect(conditionOf(revoked, 'CertificatesValid')).toMatchObject({ status: 'True', reason: 'Valid' });
    await expect(former.resource(Namespace).get('kept')).rejects.toThrow(/certificate|signature/i);
    await (await world.inside('acme', 'dev')).resource(Namespace).get('kept');
    // The worker has a certificate of the new ones, and knows them.
    await worker.client.resource(ConfigMap, 'kube-system').get('kube-root-ca.crt');
    await world.host.eventually(async () => {
      const { items } = await world.host.client.resource(Event, 'acme').list();
      const reasons = items.map(({ reason }) => reason);
      return reasons.includes('AuthoritiesRotated') && reasons.includes('AuthoritiesForgotten');
    });
  },
);

it('a cluster whose keys were stolen gets others, and nothing of before is good, in one go', LONG, async () => {
  const { tenantClient: stolen } = await world.made('acme', 'prod');
  await stolen.resource(Namespace).create({ metadata: { name: 'kept' } });
  await world.patch('acme', 'prod', { certificates: { authorities: 1, revoke: 1 } });
  const cluster = await world.ready('acme', 'prod');
  expect(cluster.status?.authorities).toEqual({ edition: 2, expire: expect.any(String) });
  await expect(stolen.resource(Namespace).get('kept')).rejects.toThrow(/certificate|signature/i);
  await (await world.inside('acme', 'prod')).resource(Namespace).get('kept');
});
