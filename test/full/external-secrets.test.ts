import { spawn, type ChildProcess } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { PluginInstallationKind } from '../../src/api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { PublisherKind } from '../../src/api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import { externalObjects, ExternalSecretKind, SecretStoreKind } from '../../src/areas/plugins/secrets/external/external-objects.ts';
import { externalSettings } from '../../src/areas/plugins/secrets/external/external-settings.ts';
import { Namespace, Role, RoleBinding, Secret, ValidatingWebhookConfiguration } from '../../src/client/kinds.ts';
import { findCondition } from '../../src/kube/conditions.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { installObjects } from '../../src/main/areas.ts';
import { makeCertificates, type Certificates } from '../cluster/certificates.ts';
import { freePorts, startControlPlane } from '../cluster/control-plane.ts';
import { startControllerManager } from '../cluster/controller-manager.ts';
import { ProductProcesses } from '../cluster/product-processes.ts';
import { PluginWorld } from '../integration/plugins/plugin-world.ts';
import { connectTarget } from '../support/api-target.ts';
import { externalSecretsBinary, externalSecretsSource } from './external-secrets-binary.ts';

/** Stands where Vault would: a namespace whose Secrets the operator reads with the rights of an account of the plugin's namespace. */
const BACKEND = 'backend';
const ACCOUNT = 'plugin-secrets-reader';
const keyOf = (plugin: string, tenant: string, path: string) => `adapstory.plugins.${plugin}.${tenant}.${path}`;

/** A server with our areas, and what others need to reach it and to be reached from it. */
interface Ground {
  world: PluginWorld;
  url: string;
  kubeconfig: string;
  ca: string;
  certificates: Certificates;
}

type End = () => Promise<unknown> | void;

async function onKubernetes(folder: string, ends: End[]): Promise<Ground> {
  const plane = await startControlPlane();
  ends.push(() => plane.stop());
  const { url, kubeconfig, ca, adminToken: token, certificates } = plane;
  const target = connectTarget({ name: 'kube-apiserver', url, kubeconfig, ca, token, close: async () => {} });
  const registries = join(folder, 'registries.yaml');
  const world = await PluginWorld.over(target, registries);
  await world.client.resource(Namespace).create({ metadata: { name: 'tenantry-system' } });
  const processes = new ProductProcesses(plane);
  ends.push(() => processes.stop());
  processes.start('controller', '--area', 'tenancy,plugins', '--registries', registries, '--namespace', 'tenantry-system');
  await world.tenants.eventually(() => world.tenants.find(() => world.client.resource(PublisherKind).list()));
  ends.push(await startControllerManager(plane, ['namespace', 'garbage-collector', 'serviceaccount']));
  return { world, url, kubeconfig, ca, certificates };
}

async function onTheEmbeddedEngine(folder: string): Promise<Ground> {
  const world = await PluginWorld.start();
  await world.client.resource(Namespace).create({ metadata: { name: 'tenantry-system' } });
  const { url, kubeconfig } = world.target;
  const { clusters } = parse(readFileSync(kubeconfig, 'utf8')) as { clusters: { cluster: Record<string, string> }[] };
  const ca = Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64').toString();
  mkdirSync(join(folder, 'pki'));
  return { world, url, kubeconfig, ca, certificates: makeCertificates(join(folder, 'pki')) };
}

describe.each([
  ['a real kube-apiserver', onKubernetes],
  ['the embedded engine', onTheEmbeddedEngine],
])('the secrets of plugins, fetched by the External Secrets Operator on %s', { timeout: 120_000 }, (_, start) => {
  let world: PluginWorld;
  let ground: Ground;
  const ends: End[] = [];

  beforeAll(async () => {
    const [program, source] = [await externalSecretsBinary(), await externalSecretsSource()];
    const folder = mkdtempSync(join(tmpdir(), 'external-secrets-test-'));
    ends.push(() => rmSync(folder, { recursive: true }));
    ground = await start(folder, ends);
    ({ world } = ground);
    await world.publisher('acme', 'acme');
    await Promise.all([world.tenants.tenant('school'), world.tenants.tenant('other')]);
    await world.client.resource(Namespace).create({ metadata: { name: BACKEND } });
    await configure();
    await world.version('acme', 'keys', '1.0.0', { secrets: [{ name: 'api', property: 'key' }] });
    await world.install('school', 'keys', { version: '1.0.0' });
    const { status } = await world.until('school', 'keys', (each) => each.status?.reason === 'SecretBackendUnavailable');
    expect(status!.message).toContain('External Secrets Operator is not installed');
    await installOperator(program, source, folder);
  }, 1_800_000);
  afterAll(async () => {
    await world?.stop();
    for (const end of ends.toReversed()) await end();
  }, 120_000);

  async function configure(): Promise<void> {
    const server = { url: ground.url, caBundle: Buffer.from(ground.ca).toString('base64') };
    const provider = { kubernetes: { server, remoteNamespace: BACKEND, auth: { serviceAccount: { name: ACCOUNT } } } };
    const stringData = {
      secrets: 'external-secrets',
      'secrets-provider': JSON.stringify(provider),
      'secrets-separator': '.',
      'secrets-refresh': '2s',
    };
    await world.client.resource(Secret, 'tenantry-system').create({ metadata: { name: 'plugin-platform' }, stringData });
  }

  /** The operator and its webhook, as its chart starts them, with the rights of an administrator. */
  async function installOperator(program: string, source: string, folder: string): Promise<void> {
    const definitions = join(source, 'config/crds/bases');
    const files = readdirSync(definitions).filter((file) => /^(generators\.)?external-secrets\.io_/.test(file));
    await installObjects(
      world.client,
      files.map((file) => parse(readFileSync(join(definitions, file), 'utf8')) as KubeObject),
    );
    const certificates = join(folder, 'certificates');
    mkdirSync(certificates);
    for (const [from, to] of [
      [ground.certificates.serverCert, 'tls.crt'],
      [ground.certificates.serverKey, 'tls.key'],
      [ground.certificates.ca, 'ca.crt'],
    ])
      copyFileSync(from, join(certificates, to));
    const [port, live, health] = await freePorts(3);
    run(program, '--metrics-addr', '0', '--live-addr', `127.0.0.1:${live}`, '--store-requeue-interval', '2s');
    const more = ['--port', String(port), '--cert-dir', certificates, '--metrics-addr', '0', '--healthz-addr', `127.0.0.1:${health}`];
    run(program, 'webhook', ...more);
    await world.client.resource<KubeObject>(ValidatingWebhookConfiguration).create({
      metadata: { name: 'secretstore-validate' },
      webhooks: ['secretstore', 'externalsecret'].map((kind) => ({
        name: `validate.${kind}.external-secrets.io`,
        rules: [{ apiGroups: ['external-secrets.io'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: [`${kind}s`] }],
        clientConfig: {
          url: `https://127.0.0.1:${port}/validate-external-secrets-io-v1-${kind}`,
          caBundle: readFileSync(ground.certificates.ca).toString('base64'),
        },
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
      })),
    });
  }

  function run(program: string, ...args: string[]): void {
    const child: ChildProcess = spawn(program, args, { env: { ...process.env, KUBECONFIG: ground.kubeconfig }, stdio: 'ignore' });
    ends.push(async () => {
      if (child.exitCode !== null) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    });
  }

  /** What Vault has as a role: the account of one namespace reads what is below its own path. */
  async function grant(plugin: string, tenant: string, ...paths: string[]): Promise<void> {
    const name = `plugin-${tenant}-${plugin}`;
    const resourceNames = paths.map((path) => keyOf(plugin, tenant, path));
    const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames }];
    await world.client.resource<KubeObject>(Role, BACKEND).apply({ metadata: { name }, rules }, { fieldManager: 'test', force: true });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
    const subjects = [{ kind: 'ServiceAccount', name: ACCOUNT, namespace: name }];
    await world.client
      .resource<KubeObject>(RoleBinding, BACKEND)
      .apply({ metadata: { name }, roleRef, subjects }, { fieldManager: 'test', force: true });
  }

  const store = (plugin: string, tenant: string, path: string, stringData: Record<string, string>) =>
    world.client
      .resource(Secret, BACKEND)
      .apply({ metadata: { name: keyOf(plugin, tenant, path) }, stringData }, { fieldManager: 'test', force: true });

  const condition = async (tenant: string, name: string) =>
    findCondition((await world.get(tenant, name)).status?.conditions, 'SecretsResolved');
  const resolved = (tenant: string, name: string) =>
    world.until(tenant, name, ({ status }) => findCondition(status?.conditions, 'SecretsResolved')?.status === 'True');
  const given = async (namespace: string) => {
    const secret = await world.tenants.find(() => world.client.resource<KubeObject>(Secret, namespace).get('plugin-secrets'));
    return Object.values(secret?.data ?? {}).map((each) => Buffer.from(each as string, 'base64').toString());
  };

  it('are waited for by their path, with what the operator says and no value', async () => {
    await grant('keys', 'school', 'api');
    const { status } = await world.until(
      'school',
      'keys',
      (each) => each.status?.reason === 'SecretMissing' && each.status.message!.includes('External Secrets Operator says'),
    );
    expect(status!.message).toContain('adapstory/plugins/keys/school/api');
  });

  it('arrive, alone the declared property', async () => {
    await store('keys', 'school', 'api', { key: 's3cret', other: 'not declared' });
    await resolved('school', 'keys');
    expect(await given('plugin-school-keys')).toEqual(['s3cret']);
    expect(JSON.stringify(await world.get('school', 'keys'))).not.toContain('s3cret');
  });

  it('follow a change in the backend', async () => {
    await store('keys', 'school', 'api', { key: 'rotated', other: 'x' });
    await world.tenants.eventually(async () => (await given('plugin-school-keys')).join() === 'rotated');
  });

  it('stay while the backend is down; what is not there yet comes when it is back', async () => {
    await world.client.resource(RoleBinding, BACKEND).delete('plugin-school-keys');
    await world.version('acme', 'keys', '1.1.0', { secrets: [{ name: 'api', property: 'key' }, { name: 'more' }] });
    await store('keys', 'school', 'more', { a: '1' });
    await world.patch('school', 'keys', { version: '1.1.0' });
    await world.tenants.eventually(async () => (await condition('school', 'keys'))?.message.includes('keys/school/more'));
    expect(await given('plugin-school-keys')).toEqual(['rotated']);
    await grant('keys', 'school', 'api', 'more');
    await world.tenants.eventually(async () => (await given('plugin-school-keys')).length === 2);
    await resolved('school', 'keys');
  });

  it('of one tenant are out of reach for the store of another', async () => {
    await grant('keys', 'other', 'api');
    await store('keys', 'other', 'api', { key: 'of the other' });
    await world.install('other', 'keys', { version: '1.0.0' });
    await resolved('other', 'keys');
    const spec = {
      secretStoreRef: { name: 'plugin-secrets', kind: 'SecretStore' },
      refreshInterval: '1s',
      target: { name: 'stolen' },
      dataFrom: [{ extract: { key: keyOf('keys', 'school', 'api') } }],
    };
    await world.client.resource<KubeObject>(ExternalSecretKind, 'plugin-other-keys').create({ metadata: { name: 'thief' }, spec });
    const failed = await world.tenants.eventually(async () => {
      const { status } = await world.client.resource<KubeObject>(ExternalSecretKind, 'plugin-other-keys').get('thief');
      return findCondition<{ type: string; status: string; reason?: string }>(status?.conditions, 'Ready');
    });
    expect(failed).toMatchObject({ status: 'False' });
    expect(await world.tenants.find(() => world.client.resource(Secret, 'plugin-other-keys').get('stolen'))).toBeUndefined();
  });

  it('have their store and their ExternalSecrets repaired', async () => {
    await world.client.resource(SecretStoreKind, 'plugin-other-keys').delete('plugin-secrets');
    await world.tenants.eventually(() =>
      world.tenants.find(() => world.client.resource(SecretStoreKind, 'plugin-other-keys').get('plugin-secrets')),
    );
  });

  it('would come from Vault by a store that the operator’s own definition and webhook accept', async () => {
    const encode = (text: string) => Buffer.from(text).toString('base64');
    const data = {
      secrets: encode('external-secrets'),
      'vault-server': encode('https://vault.example:8200'),
      'vault-ca': encode(ground.ca),
      'vault-namespace': encode('school'),
    };
    const installed = { plugin: 'keys', tenant: 'school', publisher: 'acme', namespace: 'default' };
    const wanted = { ...installed, manifest: { spec: { secrets: [{ name: 'api' }, { name: 'x', property: 'y' }] } } };
    const objects = externalObjects([wanted as never], externalSettings({ data } as never)!);
    const stores = world.client.resource<KubeObject>(SecretStoreKind, 'default');
    const strict = { fieldValidation: 'Strict' as const };
    await stores.create(objects.store, strict);
    for (const each of objects.secrets) await world.client.resource<KubeObject>(ExternalSecretKind, 'default').create(each, strict);
    // The webhook does look: one store must not use the account of another namespace.
    const crooked = structuredClone(objects.store);
    crooked.metadata.name = 'crooked';
    crooked.spec.provider.vault.auth.kubernetes.serviceAccountRef.namespace = 'kube-system';
    await expect(stores.create(crooked)).rejects.toThrow('admission webhook "validate.secretstore.external-secrets.io" denied the request');
  });

  it('leave nothing of the operator when the embedded store takes over, and nothing at all after an uninstall', async () => {
    await world.client.resource(Secret, 'tenantry-system').patch('plugin-platform', { type: 'merge', patch: { data: { secrets: null } } });
    await world.tenants.eventually(async () => (await condition('other', 'keys'))?.reason === 'SecretMissing');
    const left = async (namespace: string) => {
      const selector = { labelSelector: 'plugins.tenantry.dev/managed=external-secrets' };
      const lists = [SecretStoreKind, ExternalSecretKind, Secret].map((kind) =>
        world.client.resource<KubeObject>(kind as never, namespace).list(selector),
      );
      return (await Promise.all(lists)).flatMap(({ items }) => items).length;
    };
    await world.tenants.eventually(async () => (await left('plugin-other-keys')) === 0);
    await world.client.resource(PluginInstallationKind, 'school').delete('keys');
    await world.tenants.eventually(async () => (await world.find('plugin-school-keys')) === undefined);
  });
});
