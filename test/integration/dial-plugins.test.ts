import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PluginInstallation } from '../../src/api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { TenantClusterKind } from '../../src/api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { PlacedConnections } from '../../src/areas/plugins/gateway/placed-connections.ts';
import type { Client } from '../../src/client/client.ts';
import { Deployment, Node, Namespace, Pod, Secret } from '../../src/client/kinds.ts';
import { plan } from '../../src/cli/tenant/plan.ts';
import { findCondition } from '../../src/kube/conditions.ts';
import { realClock } from '../../src/lib/clock.ts';
import type { Informer } from '../../src/runtime/informer/informer.ts';
import { DialWorld } from './dial-world.ts';
import { PluginWorld } from './plugins/plugin-world.ts';
import { ServingPods, type Behaviour } from './plugins/serving-pods.ts';

/** A tenant with plugins, moved into a cluster of its own and back. The test plays the kubelet at both places. */
let world: DialWorld;
let plugins: PluginWorld;
let tenantClient: Client;
const pods: ServingPods[] = [];
const behaviour: Behaviour = { serve: (_, response) => void response.end('here') };
const LONG = { timeout: 120_000 };
const HELLO = 'plugin-acme-hello';

beforeAll(async () => {
  world = await DialWorld.start();
  const { target, host } = world.clusters;
  mkdirSync(join(target.data, 'node'), { recursive: true });
  plugins = await PluginWorld.over(target, join(target.data, 'node', 'registries.yaml'), host);
  await plugins.gatewayClient();
  await plugins.publisher('acme', 'acme');
  await host.tenant('acme');
  await host.node('worker');
  pods.push(new ServingPods(host.client, () => behaviour));
  await plugins.version('acme', 'hello', '1.0.0');
  await plugins.version('acme', 'caller', '1.0.0', { egress: { to: ['gateway'] } });
  for (const plugin of ['hello', 'caller']) await plugins.install('acme', plugin, { version: '1.0.0' });
  for (const plugin of ['hello', 'caller']) await plugins.phase('acme', plugin, 'ACTIVE');
}, 90_000);
afterAll(async () => {
  await world?.stop();
  await Promise.all(pods.map((each) => each.stop()));
  await plugins?.stopRegistry();
}, 90_000);

const placedOf = ({ status }: PluginInstallation) => findCondition(status?.conditions, 'Placed');
const settled = (isolation: string) => world.settled('acme', isolation);
const replicasOf = async (client: Client) =>
  (await world.host.find(() => client.resource(Deployment, HELLO).get('plugin-1-0-0')))?.spec?.replicas;
const placeOf = async (namespace: string) =>
  (await world.host.client.resource(Namespace).get(namespace)).metadata.annotations?.['plugins.tenantry.dev/place'];

it('is planned first: which plugins move, and why the others stay', LONG, async () => {
  const said: string[] = [];
  const session = plugins.session((text) => void said.push(text));
  await world.host.patch('acme', { cluster: { nodePools: [] } });
  expect(await plan(session, 'acme', { isolation: 'Cluster' }), said.join('')).toBe(0);
  expect(said.join('')).toMatch(/plugin acme\/caller stays on the host: it calls gateway of the platform/);
  expect(said.join('')).toMatch(/the cluster has no worker: .* plugins stay on the host/);
});

it('without a worker there plugins stay on the host, and say why', LONG, async () => {
  await world.host.patch('acme', { isolation: 'Cluster' });
  const there = await settled('Cluster');
  expect(findCondition(there.status?.conditions, 'Isolated')?.message).toContain(`plugins are on the host: `);
  const hello = await plugins.until('acme', 'hello', (each) => placedOf(each)?.reason === 'KeptOnHost');
  expect(placedOf(hello)?.message).toBe('it stays on the host: cluster "acme" has no worker');
  expect(hello.status).toMatchObject({ phase: 'ACTIVE' });
  expect(hello.status).not.toHaveProperty('placement');
  tenantClient = await world.clusters.inside('acme', 'acme');
  expect(await world.namespaceInside(tenantClient, HELLO)).toBeUndefined();
});

it('with a worker they answer there before they go on the host; those that cannot follow stay, and say why', LONG, async () => {
  const node = tenantClient.resource(Node);
  await node.create({ metadata: { name: 'inside' } });
  const capacity = { cpu: '4', memory: '8Gi', pods: '50' };
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: new Date().toISOString() }];
  await node.status.patch('inside', { type: 'merge', patch: { status: { capacity, allocatable: capacity, conditions } } });
  await node.patch('inside', { type: 'merge', patch: { spec: { taints: null } } });
  const moving = await plugins.until('acme', 'hello', (each) => placedOf(each)?.reason === 'Moving');
  expect(moving.status).toMatchObject({ phase: 'ACTIVE', imageStatus: 'Running' });
  await world.host.eventually(async () => (await replicasOf(tenantClient)) === 1);
  expect(await replicasOf(world.host.client)).toBe(1);

  pods.push(new ServingPods(tenantClient, () => behaviour, { after: 100 }));
  const hello = await plugins.until('acme', 'hello', ({ status }) => (status?.placement?.endpoints?.[0]?.pods ?? []).length === 1);
  const [pod] = (await tenantClient.resource(Pod, HELLO).list()).items;
  expect(hello.status!.placement).toEqual({
    cluster: 'acme',
    endpoints: [{ workload: 'plugin-1-0-0', port: 8080, pods: [pod.metadata.name] }],
  });
  await world.host.eventually(async () => (await replicasOf(world.host.client)) === 0);
  await world.host.eventually(async () => (await world.host.client.resource(Pod, HELLO).list()).items.length === 0);
  await plugins.until('acme', 'hello', (each) => placedOf(each)?.status === 'True' && each.status?.phase === 'ACTIVE');
  expect(await placeOf(HELLO)).toBe('acme');

  const caller = await plugins.get('acme', 'caller');
  expect(placedOf(caller)).toMatchObject({ status: 'False', reason: 'KeptOnHost' });
  expect(placedOf(caller)?.message).toMatch(/it calls gateway of the platform/);
  expect(await placeOf('plugin-acme-caller')).toBe('kept-from:acme');
  expect(await world.namespaceInside(tenantClient, 'plugin-acme-caller')).toBeUndefined();
});

it(
  'in the cluster is what the plugin needs and nothing else; gateways have an account there that may connect to its Pods alone',
  LONG,
  async () => {
    const secrets = (await tenantClient.resource(Secret, HELLO).list()).items.map(({ metadata }) => metadata.name);
    expect(secrets).toEqual(['plugin-token']);
    const access = await world.host.client.resource(Secret, 'tenantry-gateways').get('placed-acme');
    expect(Object.keys(access.data!).sort()).toEqual(['ca.crt', 'server', 'token']);
    // The token is good for the Pods of the plugin, and for no others; what is missing here is the tunnel of a real worker.
    const [{ metadata }] = (await tenantClient.resource(Pod, HELLO).list()).items;
    const known = { list: () => [access].values(), onChange: () => {} } as unknown as Informer;
    const connections = new PlacedConnections(known, realClock);
    const open = (namespace: string) =>
      connections.open({ tenant: 'acme', namespace, name: metadata.name! }, 8080, new AbortController().signal);
    await expect(open(HELLO)).rejects.toThrow(/no preferred addresses found/);
    await expect(open('default')).rejects.toThrow(/forbidden/);
    connections.close();
    const user = 'system:serviceaccount:kube-system:tenantry-plugin-gateway';
    const may = async (verb: string, resource: string, subresource: string | undefined, namespace: string) => {
      const { status } = await tenantClient.request<{ status: { allowed: boolean } }>({
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: { user, resourceAttributes: { verb, resource, subresource, namespace } },
        },
      });
      return status.allowed;
    };
    expect(await may('create', 'pods', 'portforward', HELLO)).toBe(true);
    expect(await may('create', 'pods', 'portforward', 'default')).toBe(false);
    expect(await may('get', 'secrets', undefined, HELLO)).toBe(false);
  },
);

it('an upgrade, a suspension and a new installation happen in the cluster', LONG, async () => {
  await plugins.version('acme', 'hello', '1.1.0');
  await plugins.patch('acme', 'hello', { version: '1.1.0' });
  const upgraded = await plugins.until('acme', 'hello', ({ status }) => status?.phase === 'ACTIVE' && status.version === '1.1.0');
  expect(upgraded.status!.placement!.endpoints).toMatchObject([{ workload: 'plugin-1-1-0', pods: [expect.any(String)] }]);
  await world.host.eventually(async () => (await replicasOf(tenantClient)) === undefined);
  expect((await world.host.client.resource(Pod, HELLO).list()).items).toEqual([]);

  await plugins.patch('acme', 'hello', { suspended: true });
  await plugins.phase('acme', 'hello', 'SUSPENDED');
  await world.host.eventually(async () => (await tenantClient.resource(Pod, HELLO).list()).items.length === 0);
  expect(await world.host.find(() => tenantClient.resource(Secret, HELLO).get('plugin-token'))).toBeUndefined();
  await plugins.patch('acme', 'hello', { suspended: false });
  await plugins.until('acme', 'hello', ({ status }) => status?.phase === 'ACTIVE' && status.placement!.endpoints![0].pods.length === 1);

  await plugins.version('acme', 'late', '1.0.0');
  await plugins.install('acme', 'late', { version: '1.0.0' });
  const late = await plugins.phase('acme', 'late', 'ACTIVE');
  expect(late.status!.placement).toMatchObject({ cluster: 'acme', endpoints: [{ pods: [expect.any(String)] }] });
  expect((await world.host.client.resource(Pod, 'plugin-acme-late').list()).items).toEqual([]);
  await plugins.client.resource(Namespace).get('plugin-acme-late');
});

it('turned back, they answer on the host before they go in the cluster, and only then the cluster goes', LONG, async () => {
  await world.host.patch('acme', { isolation: 'Namespace' });
  await plugins.until('acme', 'hello', ({ status }) => status?.placement === undefined && status?.phase === 'ACTIVE');
  expect((await world.host.client.resource(Pod, HELLO).list()).items.filter(({ status }) => status?.phase === 'Running')).toHaveLength(1);
  await settled('Namespace');
  for (const plugin of ['hello', 'caller', 'late']) {
    const installation = await plugins.until('acme', plugin, (each) => placedOf(each) === undefined && each.status?.phase === 'ACTIVE');
    expect(installation.status).not.toHaveProperty('placement');
    expect(await placeOf(`plugin-acme-${plugin}`)).toBeUndefined();
  }
  expect(await world.host.find(() => world.host.client.resource(TenantClusterKind, 'acme').get('acme'))).toBeUndefined();
  await world.host.eventually(
    async () => (await world.host.find(() => world.host.client.resource(Secret, 'tenantry-gateways').get('placed-acme'))) === undefined,
  );
});
