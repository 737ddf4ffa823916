import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ClusterPolicyKind } from '../../../src/api/tenantry.dev/v1alpha1/cluster-policy.ts';
import { ClusterRoleBinding, ConfigMap, LimitRange, Namespace, Secret } from '../../../src/client/kinds.ts';
import { ClusterWorld, conditionOf, isSettled } from './cluster-world.ts';

let world: ClusterWorld;

beforeAll(async () => {
  // What a machine can is not asked here.
  world = await ClusterWorld.start({ network: 'off' });
  await world.host.tenant('acme', { owners: [{ kind: 'User', name: 'alice' }] });
  await world.policy({ max: { clusters: 3 }, addOns: [{ name: 'limits', mandatory: true }, { name: 'default-deny' }] });
}, 60_000);
afterAll(() => world?.stop(), 60_000);

const LONG = { timeout: 90_000 };

it('an owner makes a cluster in the root namespace of the tenant and is its administrator', LONG, async () => {
  const alice = await world.host.as('alice');
  await world.create('acme', 'first', {}, alice);
  const cluster = await world.ready('acme', 'first');
  expect(cluster.status).toMatchObject({ phase: 'Ready', provider: 'embedded', version: '1.35.4', kubeconfig: 'first-kubeconfig' });
  await expect(alice.resource(Secret, 'acme').get('first-kubeconfig')).resolves.toBeDefined();
  const tenantClient = await world.inside('acme', 'first');
  await tenantClient.resource(Namespace).create({ metadata: { name: 'team' } });
  await expect(tenantClient.resource(Secret).list()).resolves.toBeDefined();
  await world.gone('acme', 'first');
});

it.each<[string, () => Promise<unknown>, RegExp]>([
  ['outside of a tenant', () => world.create('default', 'x'), /"default" is not the root namespace of a tenant/],
  ['with a version that nobody serves', () => world.create('acme', 'x', { version: '1.30' }), /no control plane here serves version 1\.30/],
  [
    'with workers, where there are no networks for them',
    () => world.create('acme', 'x', { nodePools: [{ name: 'w', replicas: 1 }] }),
    /has no networks for tenant clusters: they are turned off; .* Ask the operator, or leave its node pools out/,
  ],
  [
    'in a subnet, where there are no networks',
    () => world.create('acme', 'x', { network: { subnet: 'one' } }),
    /they are turned off; .* leave spec\.network out/,
  ],
  [
    'with an add-on that nobody offers',
    () => world.create('acme', 'x', { addOns: ['nix'] }),
    /offers no add-on "nix"; choose from limits, default-deny/,
  ],
  [
    'with two replicas of an embedded control plane',
    () => world.create('acme', 'x', { controlPlane: { provider: 'embedded', replicas: 2 } }),
    /has one replica/,
  ],
])('a cluster is refused %s', async (_name, create, expected) => {
  await expect(create()).rejects.toThrow(expected);
});

it('a stranger can neither make clusters of a tenant nor change the bounds, and neither can its owner', async () => {
  const [mallory, alice] = [await world.host.as('mallory'), await world.host.as('alice')];
  await expect(world.create('acme', 'x', {}, mallory)).rejects.toThrow(/cannot create resource "tenantclusters"/);
  for (const client of [mallory, alice]) {
    await expect(client.resource(ClusterPolicyKind).patch('default', { type: 'merge', patch: { spec: { max: null } } })).rejects.toThrow(
      /cannot patch/,
    );
  }
});

it('a tenant that no policy selects may have no cluster', async () => {
  await world.policy({ tenants: { names: ['beta'] } });
  try {
    await world.host.eventually(async () => {
      const refused = await world.create('acme', 'x').then(() => '', String);
      if (refused === '') await world.gone('acme', 'x');
      return refused.includes('no ClusterPolicy allows tenant "acme" to have clusters');
    });
  } finally {
    await world.policy({ tenants: null });
  }
});

it('of creates that come at once no more get in than the tenant may have', LONG, async () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const results = await Promise.allSettled(names.map((name) => world.create('acme', name, { sleep: true })));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  await Promise.all(names.map((name) => world.gone('acme', name)));
});

it('what administrators of the cluster delete of mandatory add-ons comes back, in new namespaces too', LONG, async () => {
  const { tenantClient } = await world.made('acme', 'kept');
  const limits = (namespace: string) => world.host.find(() => tenantClient.resource(LimitRange, namespace).get('tenantry-limits'));
  await tenantClient.resource(Namespace).create({ metadata: { name: 'team' } });
  await world.host.eventually(() => limits('team'));
  const { metadata } = (await limits('team'))!;
  await tenantClient.resource(LimitRange, 'team').delete('tenantry-limits');
  await world.host.eventually(async () => {
    const uid = (await limits('team'))?.metadata.uid;
    return uid !== undefined && uid !== metadata.uid;
  });
  await tenantClient.resource(ClusterRoleBinding).delete('kubeadm:cluster-admins');
  await world.host.eventually(() =>
    tenantClient
      .resource(Secret)
      .list()
      .catch(() => undefined),
  );
  await world.gone('acme', 'kept');
});

it('manifests of the operator are an add-on, and follow their ConfigMap', LONG, async () => {
  const manifest = (value: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: audit, namespace: default}\ndata: {value: ${value}}\n`;
  const configMaps = world.host.client.resource(ConfigMap, 'default');
  await configMaps.create({ metadata: { name: 'audit-add-on' }, data: { 'audit.yaml': manifest('one') } });
  const limits = { name: 'limits', mandatory: true };
  await world.policy({ addOns: [limits, { name: 'audit', mandatory: true, configMap: { namespace: 'default', name: 'audit-add-on' } }] });
  const { tenantClient } = await world.made('acme', 'audited');
  const value = async () => (await world.host.find(() => tenantClient.resource(ConfigMap, 'default').get('audit')))?.data?.value;
  await world.host.eventually(async () => (await value()) === 'one');
  await configMaps.patch('audit-add-on', { type: 'merge', patch: { data: { 'audit.yaml': manifest('two') } } });
  await world.host.eventually(async () => (await value()) === 'two');
  await world.policy({ addOns: [limits, { name: 'default-deny' }] });
  await world.gone('acme', 'audited');
});

it('bounds that shrink below what is there stop nothing, and the excess is shown', LONG, async () => {
  const { tenantClient } = await world.made('acme', 'large');
  await world.policy({ max: { clusters: 0 } });
  const beyond = await world.until('acme', 'large', (cluster) => conditionOf(cluster, 'WithinBounds')?.status === 'False');
  expect(conditionOf(beyond, 'WithinBounds')?.message).toMatch(/may have 0 clusters and has 1 with this one.*Nothing is stopped/s);
  expect(conditionOf(beyond, 'Ready')?.status).toBe('True');
  await expect(tenantClient.resource(Namespace).list()).resolves.toBeDefined();
  await world.host.eventually(async () => {
    const { status } = await world.host.client.resource(ClusterPolicyKind).get('default');
    return status?.beyondBounds?.includes('acme/large');
  });
  await world.patch('acme', 'large', { sleep: true });
  await world.until('acme', 'large', ({ status }) => status?.phase === 'Asleep');
  await world.policy({ max: { clusters: 3 } });
  await world.until('acme', 'large', (cluster) => conditionOf(cluster, 'WithinBounds')?.status === 'True');
  await world.gone('acme', 'large');
});

it('a control plane that is killed is started again, and the cluster says so', LONG, async () => {
  const { cluster, tenantClient } = await world.made('acme', 'killed');
  await tenantClient.resource(ConfigMap, 'default').create({ metadata: { name: 'kept' } });
  const pid = world.processOf(cluster);
  process.kill(pid, 'SIGKILL');
  await world.host.eventually(async () => world.processOf(cluster) !== pid && isSettled(await world.ready('acme', 'killed')));
  await world.host.eventually(() =>
    tenantClient
      .resource(ConfigMap, 'default')
      .get('kept')
      .catch(() => undefined),
  );
  await world.gone('acme', 'killed');
});

it('a cluster that is deleted leaves nothing, and one of the same name has nothing of it', LONG, async () => {
  const { tenantClient, cluster } = await world.made('acme', 'again', { backups: ['monday'] });
  await tenantClient.resource(ConfigMap, 'default').create({ metadata: { name: 'old' } });
  await world.gone('acme', 'again');
  expect(await world.host.find(() => world.host.client.resource(Secret, 'acme').get('again-kubeconfig'))).toBeUndefined();
  expect(everythingOf(cluster.metadata.uid!)).toEqual([]);
  const { tenantClient: second } = await world.made('acme', 'again');
  expect(await world.host.find(() => second.resource(ConfigMap, 'default').get('old'))).toBeUndefined();
  await world.gone('acme', 'again');
});

it('of two clusters with one name there is one, whoever comes first', LONG, async () => {
  const results = await Promise.allSettled([world.create('acme', 'twin', { sleep: true }), world.create('acme', 'twin', { sleep: true })]);
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const refused = results.find((result) => result.status === 'rejected');
  expect(String(refused?.reason)).toContain('already exists');
  await world.gone('acme', 'twin');
});

it('a cluster that is deleted while it is made leaves nothing', LONG, async () => {
  const { metadata } = await world.create('acme', 'short');
  await world.gone('acme', 'short');
  expect(everythingOf(metadata.uid!)).toEqual([]);
});

it('a suspended tenant sleeps with its clusters', LONG, async () => {
  await world.made('acme', 'rest');
  await world.host.patch('acme', { suspended: true });
  await world.until('acme', 'rest', ({ status }) => status?.phase === 'Asleep');
  await world.host.patch('acme', { suspended: null });
  await world.until('acme', 'rest', ({ status }) => status?.phase === 'Ready');
  await world.gone('acme', 'rest');
});

it('a backup that is named is made, and a restore brings it back', LONG, async () => {
  const { tenantClient } = await world.made('acme', 'saved');
  const configMaps = tenantClient.resource(ConfigMap, 'default');
  await configMaps.create({ metadata: { name: 'before' } });
  await world.patch('acme', 'saved', { backups: ['monday'] });
  await world.until('acme', 'saved', ({ status }) => status?.backups?.[0]?.name === 'monday');
  await configMaps.create({ metadata: { name: 'after' } });
  await world.patch('acme', 'saved', { restore: { backup: 'monday' } });
  await world.until('acme', 'saved', ({ status }) => status?.restored?.backup === 'monday' && status.phase === 'Ready');
  const names = await world.host.eventually(async () => {
    const { items } = (await configMaps.list().catch(() => undefined)) ?? {};
    return items?.map(({ metadata }) => metadata.name);
  });
  expect(names).toContain('before');
  expect(names).not.toContain('after');
  await world.gone('acme', 'saved');
});

function everythingOf(id: string): string[] {
  const folder = join(world.target.data, 'clusters');
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((path) => path.includes(id));
}
