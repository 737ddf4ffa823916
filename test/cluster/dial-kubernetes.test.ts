import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RuntimeKind } from '../../src/api/kruntimes.io/v1alpha1/runtime.ts';
import { TenantClusterKind } from '../../src/api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { Deployment, ServiceAccount } from '../../src/client/kinds.ts';
import { DialWorld } from '../integration/dial-world.ts';
import { controlPlanePrograms } from './binaries.ts';

let world: DialWorld;
let programs: string;

beforeAll(async () => {
  programs = await controlPlanePrograms();
  world = await DialWorld.start({ kubernetesPrograms: programs });
  await world.host.tenant('acme', {});
}, 600_000);
afterAll(async () => {
  await world?.stop();
  rmSync(programs, { recursive: true, force: true });
}, 120_000);

it('a tenant lives in a cluster of real Kubernetes, whose Runs are worked on beside its API server', { timeout: 300_000 }, async () => {
  const { client } = world.host;
  const containers = [{ name: 'runtime', image: 'example/none' }];
  await client.resource(RuntimeKind, 'acme').create({ metadata: { name: 'rt' }, spec: { template: { spec: { containers } } } });
  await world.host.patch('acme', { isolation: 'Cluster', cluster: { provider: 'kubernetes', nodePools: [] } });
  await world.host.until('acme', ({ status }) => status?.isolation === 'Cluster');
  expect((await client.resource(TenantClusterKind, 'acme').get('acme')).status).toMatchObject({
    provider: 'kubernetes',
    placement: { phase: 'Placed' },
  });

  const tenantClient = await world.clusters.inside('acme', 'acme');
  await world.host.eventually(() => world.host.find(() => tenantClient.resource(ServiceAccount, 'acme').get('default')));
  await world.host.eventually(() => world.host.find(() => tenantClient.resource(Deployment, 'acme').get('runtime-rt')));
  await world.pod(tenantClient, 'acme', 'cluster-pod');
  await world.create('acme', 'there', 'echo there');
  expect((await world.ended('acme', 'there')).status).toMatchObject({
    phase: 'Succeeded',
    assignedPod: 'cluster-pod',
    placedIn: 'acme',
    log: { text: 'there\n' },
  });

  await world.host.patch('acme', { isolation: 'Namespace' });
  await world.host.until('acme', ({ status }) => status?.isolation === 'Namespace' && status.phase === 'Active');
  expect((await client.resource(TenantClusterKind).list()).items).toEqual([]);
});
