import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { HierarchyConfigurationKind } from '../../../src/api/hnc.x-k8s.io/v1alpha2/hierarchy-configuration.ts';
import { HncConfigurationKind, type HncConfiguration } from '../../../src/api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import { createClient, type Client } from '../../../src/client/client.ts';
import { connectContext } from '../../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../../src/client/config/kubeconfig.ts';
import { ClusterRoleBinding, ConfigMap, Namespace, Secret, ValidatingWebhookConfiguration } from '../../../src/client/kinds.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { startEngine, type Engine } from '../../../src/main/engine.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';

const data = mkdtempSync(join(tmpdir(), 'tenantry-object-admission-'));
const clients: Client[] = [];
let engine: Engine;
let admin: Client;
let bob: Client;

async function connectAs(user?: string): Promise<Client> {
  const context = resolveContext(await loadKubeconfig({ path: engine.kubeconfig }));
  const client = createClient(await connectContext(context), user === undefined ? {} : { headers: { 'Impersonate-User': user } });
  clients.push(client);
  return client;
}

const eventually = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 30_000, interval: 20 });

async function configure(resources: HncConfiguration['spec']['resources']): Promise<void> {
  const configuration = { metadata: { name: 'config' }, spec: { resources } };
  await admin.resource(HncConfigurationKind).apply(configuration, { fieldManager: 'test', force: true });
}

/** What the webhook on objects is called for. */
async function watchedResources(): Promise<string[]> {
  const { webhooks } = await admin.resource(ValidatingWebhookConfiguration).get('tenantry-tree');
  return (webhooks ?? [])
    .filter(({ name }) => name === 'objects.hnc.x-k8s.io')
    .flatMap(({ rules }) => (rules ?? []).flatMap(({ resources }) => resources ?? []));
}

beforeAll(async () => {
  const options = { address: '127.0.0.1', port: 0, fallBackToFreePort: false, version: '0.0.0-test', log: silentLog };
  engine = await startEngine({ ...options, data, areas: ownCustomResourceDefinitions });
  admin = await connectAs();
  bob = await connectAs('bob');
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'bob' }];
  await admin.resource(ClusterRoleBinding).create({ metadata: { name: 'bob' }, roleRef, subjects });
  for (const name of ['top', 'below']) await admin.resource(Namespace).create({ metadata: { name } });
  await admin.resource(HierarchyConfigurationKind, 'below').create({ metadata: { name: 'hierarchy' }, spec: { parent: 'top' } });
  await eventually(async () =>
    expect((await admin.resource(Namespace).get('below')).metadata.labels).toHaveProperty(['top.tree.hnc.x-k8s.io/depth'], '1'),
  );
});

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await engine?.stop();
  rmSync(data, { recursive: true, force: true });
});

test('the webhook on objects, is called for the types that are propagated and no others', async () => {
  await eventually(async () => expect(await watchedResources()).toEqual(['rolebindings', 'roles']));
  await configure([{ resource: 'configmaps' }, { resource: 'secrets', mode: 'Ignore' }]);
  await eventually(async () => expect(await watchedResources()).toEqual(['configmaps', 'rolebindings', 'roles']));
});

test('a copy, is nobody’s to write, and a source overwrites nothing', async () => {
  await admin.resource(ConfigMap, 'top').create({ metadata: { name: 'm' }, data: { a: '1' } });
  const below = bob.resource(ConfigMap, 'below');
  await eventually(async () => expect((await below.get('m')).data).toEqual({ a: '1' }));
  const denied = 'admission webhook "objects.hnc.x-k8s.io" denied the request: configmaps';
  await expect(below.patch('m', { type: 'merge', patch: { data: { a: '2' } } })).rejects.toThrow(
    `${denied} "below/m" is forbidden: cannot modify object propagated from namespace "top"`,
  );
  await expect(below.delete('m')).rejects.toThrow(`${denied} "/" is forbidden: cannot delete object propagated from namespace "top"`);
  await below.create({ metadata: { name: 'own' } });
  await expect(bob.resource(ConfigMap, 'top').create({ metadata: { name: 'own' } })).rejects.toThrow(
    'admission webhook "objects.hnc.x-k8s.io" denied the request: Operation cannot be fulfilled on configmaps "top/own": would overwrite objects in the following descendant namespace(s): below.',
  );
});

test('a configuration, that would overwrite what somebody made, is refused', async () => {
  for (const namespace of ['top', 'below']) await admin.resource(Secret, namespace).create({ metadata: { name: 's' } });
  await expect(configure([{ resource: 'configmaps' }, { resource: 'secrets', mode: 'Propagate' }])).rejects.toThrow(
    'Object "s" in namespace "top" would overwrite the one in "below"',
  );
  await expect(admin.resource(HncConfigurationKind).delete('config')).rejects.toThrow("deleting the 'config' object is forbidden");
});

test('what goes into namespaces of the platform, is written by the platform, whatever its type', async () => {
  const metadata = { name: 'vouched', annotations: { 'tenantry.dev/propagate-to-platform': 'true' } };
  const refused =
    'admission webhook "platform-copies.tenantry.dev" denied the request: secrets "vouched" is forbidden: objects with the annotation';
  const secrets = bob.resource(Secret, 'top');
  await expect(secrets.create({ metadata })).rejects.toThrow(refused);
  await admin.resource(Secret, 'top').create({ metadata });
  await expect(secrets.patch('vouched', { type: 'merge', patch: { stringData: { a: '1' } } })).rejects.toThrow(refused);
  await expect(secrets.patch('vouched', { type: 'merge', patch: { metadata: { annotations: null } } })).rejects.toThrow(refused);
  await expect(secrets.delete('vouched')).rejects.toThrow(refused);
  await secrets.create({ metadata: { name: 'plain' } });
});

test('a namespace with copies, can be deleted', async () => {
  await bob.resource(Namespace).delete('below');
  await eventually(async () =>
    expect((await admin.resource(Namespace).list()).items.map(({ metadata }) => metadata.name)).not.toContain('below'),
  );
});
