import { afterAll, beforeAll, expect, it } from 'vitest';
import { RunKind } from '../../src/api/kruntimes.io/v1alpha1/run.ts';
import { isUntouched } from '../../src/api/kruntimes.io/v1alpha1/run-state.ts';
import { RuntimeKind } from '../../src/api/kruntimes.io/v1alpha1/runtime.ts';
import { TenantClusterKind } from '../../src/api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { TenantKind, type Tenant } from '../../src/api/tenantry.dev/v1alpha1/tenant.ts';
import type { Client } from '../../src/client/client.ts';
import { ConfigMap, Deployment, Namespace, Pod, Secret } from '../../src/client/kinds.ts';
import { findCondition } from '../../src/kube/conditions.ts';
import { DialWorld } from './dial-world.ts';

let world: DialWorld;
let tenantClient: Client;

beforeAll(async () => {
  world = await DialWorld.start();
  await world.host.tenant('acme', { owners: [{ kind: 'User', name: 'alice' }] });
  await world.host.namespace('acme', 'acme--dev');
}, 60_000);
afterAll(() => world?.stop(), 60_000);

const LONG = { timeout: 120_000 };
const RUNTIME = { template: { spec: { containers: [{ name: 'runtime', image: 'example/none' }] } } };
const inside = (name: string) => world.host.find(() => tenantClient.resource(RunKind, 'acme--dev').get(name));
const movesTo = (tenant: Tenant) => findCondition(tenant.status?.conditions, 'Moving');
const settled = (isolation: string) => world.settled('acme', isolation);

it('turned to Cluster, what began on the host ends there, and what waits begins in the cluster', LONG, async () => {
  const { client } = world.host;
  await client.resource(RuntimeKind, 'acme--dev').create({ metadata: { name: 'rt' }, spec: RUNTIME });
  await client.resource(Secret, 'acme--dev').create({ metadata: { name: 'db' }, stringData: { password: 's3cret' } });
  await world.pod(client, 'acme--dev', 'host-pod', 1);
  await world.create('acme--dev', 'began', 'sleep 60', {});
  await world.until('acme--dev', 'began', ({ status }) => status?.phase === 'Running');
  await world.create('acme--dev', 'waits', 'echo "$P"', {
    env: [{ name: 'P', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } }],
  });

  await world.host.patch('acme', { isolation: 'Cluster', cluster: { nodePools: [] } });
  const moving = await world.host.until(
    'acme',
    (tenant) => movesTo(tenant)?.message.includes('one Run has yet to end on the host') === true,
  );
  expect(moving.status).toMatchObject({ phase: 'Moving', isolation: 'Namespace' });
  tenantClient = await world.clusters.inside('acme', 'acme');
  const waits = await world.until('acme--dev', 'waits', ({ status }) => status?.placedIn === 'acme');
  expect(isUntouched(waits)).toBe(true);
  expect((await client.resource(RunKind, 'acme--dev').get('began')).status).not.toHaveProperty('placedIn');

  await world.pod(tenantClient, 'acme--dev', 'cluster-pod');
  const ended = await world.ended('acme--dev', 'waits');
  expect(ended.status).toMatchObject({ phase: 'Succeeded', assignedPod: 'cluster-pod', placedIn: 'acme', log: { text: 's3cret\n' } });
  await client.resource(RunKind, 'acme--dev').patch('began', { type: 'merge', patch: { spec: { cancelRequested: true } } });
  expect((await world.ended('acme--dev', 'began')).status).toMatchObject({ phase: 'Cancelled', assignedPod: 'host-pod' });
  const there = await settled('Cluster');
  expect(findCondition(there.status?.conditions, 'Isolated')?.message).toBe(
    'its Runtimes and Runs are in cluster "acme" of its own, which has no worker: its Pods wait for one',
  );
  // The copy of a Run that has ended is gone; the Runtime is in the cluster, and its Pods are no longer on the host.
  await world.host.eventually(async () => (await inside('waits')) === undefined);
  await expect(tenantClient.resource(RuntimeKind, 'acme--dev').get('rt')).resolves.toBeDefined();
  await world.host.eventually(
    async () => (await world.host.find(() => tenantClient.resource(Deployment, 'acme--dev').get('runtime-rt'))) !== undefined,
  );
  await world.host.eventually(async () => (await client.resource(Deployment, 'acme--dev').get('runtime-rt')).spec?.replicas === 0);
});

it('a Run that is made on the host works in the cluster, with all it wrote, and leaves no copy', LONG, async () => {
  await world.create('acme--dev', 'long', 'for i in $(seq 3000); do echo "line $i"; done; echo a=b > $KRUNTIME_OUTPUTS');
  const run = await world.ended('acme--dev', 'long');
  expect(run.status).toMatchObject({ phase: 'Succeeded', outputs: { a: 'b' }, placedIn: 'acme' });
  const log = await world.host.client.resource(ConfigMap, 'acme--dev').get(run.status!.log!.configMapName!);
  expect(log.data?.['log']).toContain('line 1\n');
  await world.host.eventually(async () => (await inside('long')) === undefined);
  await world.host.eventually(
    async () => (await world.host.client.resource(RunKind, 'acme--dev').get('long')).metadata.finalizers === undefined,
  );
});

it('cancelled or deleted on the host, a Run ends in the cluster', LONG, async () => {
  await world.create('acme--dev', 'cancelled', 'sleep 60');
  await world.until('acme--dev', 'cancelled', ({ status }) => status?.phase === 'Running');
  await world.host.client.resource(RunKind, 'acme--dev').patch('cancelled', { type: 'merge', patch: { spec: { cancelRequested: true } } });
  expect((await world.ended('acme--dev', 'cancelled')).status).toMatchObject({ phase: 'Cancelled', message: 'cancelled by user' });

  await world.create('acme--dev', 'deleted', 'sleep 60');
  await world.until('acme--dev', 'deleted', ({ status }) => status?.phase === 'Running');
  await world.host.client.resource(RunKind, 'acme--dev').delete('deleted');
  await world.host.eventually(async () => (await inside('deleted')) === undefined);
  await world.host.eventually(
    async () => (await world.host.find(() => world.host.client.resource(RunKind, 'acme--dev').get('deleted'))) === undefined,
  );
});

it('what an administrator of the cluster deletes there comes back, but for Runs that have begun, which end', LONG, async () => {
  await tenantClient.resource(Secret, 'acme--dev').delete('db');
  await tenantClient.resource(RuntimeKind, 'acme--dev').delete('rt');
  await world.host.eventually(() => world.host.find(() => tenantClient.resource(Secret, 'acme--dev').get('db')));
  await world.host.eventually(() => world.host.find(() => tenantClient.resource(RuntimeKind, 'acme--dev').get('rt')));

  await world.create('acme--dev', 'pending', 'true', { runtime: 'none' });
  const first = await world.host.eventually(() => inside('pending'));
  await tenantClient.resource(RunKind, 'acme--dev').delete('pending');
  await world.host.eventually(async () => {
    const uid = (await inside('pending'))?.metadata.uid;
    return uid !== undefined && uid !== first.metadata.uid;
  });
  await world.create('acme--dev', 'begun', 'sleep 60');
  await world.until('acme--dev', 'begun', ({ status }) => status?.phase === 'Running');
  await tenantClient.resource(RunKind, 'acme--dev').delete('begun');
  expect((await world.ended('acme--dev', 'begun')).status).toMatchObject({ phase: 'Cancelled', message: 'deleted in cluster "acme"' });
});

it('a new namespace of the tenant is in the cluster too; its owners cannot say otherwise', LONG, async () => {
  await world.host.namespace('acme', 'acme--new');
  await world.host.eventually(() => world.namespaceInside(tenantClient, 'acme--new'));
  const alice = await world.host.as('alice');
  await expect(
    alice.resource(Namespace).patch('acme--new', { type: 'merge', patch: { metadata: { labels: { 'tenantry.dev/placed-in': null } } } }),
  ).rejects.toThrow(/cannot patch|can only be set by the platform/);
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'example/none' }] } };
  await expect(alice.resource(Pod, 'acme--new').create(pod)).rejects.toThrow(/lives in cluster "acme" of its own; make it there/);
  await expect(alice.resource(TenantClusterKind, 'acme').delete('acme')).rejects.toThrow(/kept by the platform/);
  const mine = { name: 'mine', labels: { 'tenantry.dev/owned-by-tenant': 'acme' } };
  await expect(
    alice.resource(TenantClusterKind, 'acme').create({ metadata: mine, spec: { placement: { namespaces: ['acme--new'] } } }),
  ).rejects.toThrow(/can only be set by the platform/);
});

it('turned back, what began in the cluster ends there, what waits begins on the host, and only then the cluster goes', LONG, async () => {
  const { client } = world.host;
  await world.create('acme--dev', 'inside', 'sleep 60');
  await world.until('acme--dev', 'inside', ({ status }) => status?.phase === 'Running');
  await world.host.patch('acme', { isolation: 'Namespace' });
  await world.host.until('acme', (tenant) => movesTo(tenant)?.message.includes('one Run has yet to end in cluster "acme"') === true);
  // It waited in the cluster, for a Runtime that nobody has, and goes on waiting on the host.
  await world.until('acme--dev', 'pending', ({ status }) => status?.placedIn === undefined);
  await world.create('acme--dev', 'new', 'echo here');
  expect((await world.ended('acme--dev', 'new')).status).toMatchObject({ phase: 'Succeeded', assignedPod: 'host-pod' });
  expect((await client.resource(RunKind, 'acme--dev').get('inside')).status).toMatchObject({ phase: 'Running', placedIn: 'acme' });
  await expect(client.resource(TenantClusterKind, 'acme').get('acme')).resolves.toBeDefined();
  await client.resource(RunKind, 'acme--dev').patch('inside', { type: 'merge', patch: { spec: { cancelRequested: true } } });
  expect((await world.ended('acme--dev', 'inside')).status).toMatchObject({ phase: 'Cancelled', assignedPod: 'cluster-pod' });
  await settled('Namespace');
  expect(await world.host.find(() => client.resource(TenantClusterKind, 'acme').get('acme'))).toBeUndefined();
  await world.host.eventually(async () => (await client.resource(Deployment, 'acme--dev').get('runtime-rt')).spec?.replicas === 1);
});

it('a tenant that is deleted in the middle of it leaves nothing', LONG, async () => {
  await world.host.patch('acme', { isolation: 'Cluster' });
  await settled('Cluster');
  await world.create('acme--dev', 'left', 'true', { runtime: 'none' });
  await world.until('acme--dev', 'left', ({ status }) => status?.placedIn === 'acme');
  await world.host.client.resource(TenantKind).delete('acme');
  await world.host.eventually(async () => (await world.host.find(() => world.host.client.resource(Namespace).get('acme'))) === undefined);
  await world.host.eventually(async () => (await world.host.find(() => world.host.get('acme'))) === undefined);
  expect((await world.host.client.resource(TenantClusterKind).list()).items).toEqual([]);
});

it('a tenant that begins in a cluster of its own never begins elsewhere', LONG, async () => {
  await world.host.tenant('fresh', { isolation: 'Cluster', cluster: { nodePools: [] } });
  expect((await world.host.get('fresh')).status).toMatchObject({ isolation: 'Cluster', phase: 'Active' });
  expect((await world.host.client.resource(Namespace).get('fresh')).metadata.labels).toMatchObject({ 'tenantry.dev/placed-in': 'fresh' });
  await world.host.client.resource(TenantKind).delete('fresh');
  await world.host.eventually(async () => (await world.host.find(() => world.host.get('fresh'))) === undefined);
});

it('a tenant that no policy allows a cluster is refused one, and stays where it is', LONG, async () => {
  await world.host.tenant('poor');
  await world.clusters.policy({ tenants: { names: ['rich'] } });
  await expect(world.host.patch('poor', { isolation: 'Cluster' })).rejects.toThrow(
    /no ClusterPolicy allows it to have clusters; make one that selects it/,
  );
  await world.clusters.policy({ tenants: { names: ['poor'] }, max: { clusters: 0 } });
  await world.host.patch('poor', { isolation: 'Cluster', cluster: { nodePools: [] } });
  const stalled = await world.host.until('poor', ({ status }) => findCondition(status?.conditions, 'Isolated')?.reason === 'Obstructed');
  expect(findCondition(stalled.status?.conditions, 'Isolated')?.message).toMatch(/Cannot have cluster "poor"/);
  expect(stalled.status?.isolation).toBe('Namespace');
  await world.clusters.policy({ tenants: null, max: null });
  await world.host.until('poor', ({ status }) => status?.isolation === 'Cluster');
  await world.host.client.resource(TenantKind).delete('poor');
  await world.host.eventually(async () => (await world.host.find(() => world.host.get('poor'))) === undefined);
});
