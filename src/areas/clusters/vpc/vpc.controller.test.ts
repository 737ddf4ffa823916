import { afterEach, describe, expect, it, vi } from 'vitest';
import { FakeApi } from '../../../../test/support/fake-api.ts';
import type { TenantCluster } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Vpc as VpcObject } from '../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { createClient } from '../../../client/client.ts';
import { createInMemoryTransport } from '../../../client/in-memory/in-memory-transport.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { realClock } from '../../../lib/clock.ts';
import { silentLog } from '../../../lib/log.ts';
import { MetricsRegistry } from '../../../lib/metrics.ts';
import { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { ClustersEnvironment } from '../clusters-environment.ts';
import { platformOf, type NetworkPlan, type Vpc } from '../network/model/vpc.ts';
import type { Networks } from '../network/networks.ts';
import { defaultVpc } from './model/cluster-place.ts';
import { TenantNetworks, type OpenNetworks } from './tenant-networks.ts';
import { aResident, aVpcObject, aWorker } from './testing/some-objects.ts';
import { vpcController } from './vpc.controller.ts';

/** Remembers what it was asked to make. */
class Recorder implements Networks {
  readonly provider = 'recorder';
  readonly plans: NetworkPlan[] = [];
  removed = 0;
  refused: string | undefined;

  unable(): undefined {
    return undefined;
  }

  async ensure(plan: NetworkPlan) {
    this.plans.push(plan);
    await Promise.resolve();
    return plan.vpcs.map(({ name }) => ({ name, ...(this.refused === name ? { error: new Error('the kernel said no') } : {}) }));
  }

  observe() {
    return Promise.resolve([]);
  }

  deviceOf(vpc: Vpc, { name }: Vpc['ports'][number]) {
    return { name, namespace: vpc.name };
  }

  remove() {
    this.removed++;
    return Promise.resolve();
  }
}

const NO_GATEWAYS: ClustersEnvironment['gateways'] = {
  unable: () => Promise.resolve('there are none'),
  ensure: () => Promise.reject(new Error('there are none')),
  remove: () => Promise.resolve(),
  onEnd: () => () => {},
  close: () => {},
};

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function start(objects: { vpcs?: VpcObject[]; clusters?: TenantCluster[] }, open?: OpenNetworks) {
  const api = new FakeApi();
  for (const vpc of objects.vpcs ?? []) api.put(vpc, 'vpcs');
  for (const cluster of objects.clusters ?? []) api.put(cluster, 'tenantclusters');
  const made = new Recorder();
  const hostClient = createClient(createInMemoryTransport(api.handler), { clock: realClock });
  const informers = new SharedInformers({ client: hostClient, log: silentLog });
  const openNetworks = open ?? (() => Promise.resolve({ networks: made, platform: platformOf() }));
  const environment = { hostClient, clock: realClock, log: silentLog, metrics: new MetricsRegistry(), informers };
  const networks = new TenantNetworks({ ...environment, open: openNetworks });
  const controller = vpcController({ ...environment, networks, gateways: NO_GATEWAYS } as unknown as ClustersEnvironment);
  controller.start();
  stops.push(async () => {
    await controller.stop();
    await networks.close();
    await informers.stop();
  });
  const vpc = (tenant: string) => api.get('vpcs', tenant, tenant) as VpcObject | undefined;
  const reason = (tenant: string) => findCondition(vpc(tenant)?.status?.conditions, 'Ready')?.reason;
  const until = (met: () => boolean) => vi.waitUntil(met, { timeout: 10_000, interval: 5 });
  return { api, made, networks, vpc, reason, until };
}

const fresh = (tenant: string, spec: Partial<VpcObject['spec']> = {}): VpcObject => ({ ...aVpcObject(tenant, spec), status: undefined });

describe('vpcController', () => {
  it('gives every VPC a number of its own, and makes many in few rounds', async () => {
    const tenants = Array.from({ length: 60 }, (_, at) => `t${at}`);
    const { made, vpc, reason, until } = start({ vpcs: tenants.map((tenant) => fresh(tenant)) });
    await until(() => tenants.every((tenant) => reason(tenant) === 'Ready'));
    expect(new Set(tenants.map((tenant) => vpc(tenant)!.status!.index)).size).toBe(60);
    expect(made.plans.at(-1)!.vpcs.length).toBe(60);
    expect(made.plans.length).toBeLessThan(30);
  });

  it('writes the number down before anything is made', async () => {
    const { api, made, until, reason } = start({ vpcs: [fresh('acme')] });
    const seen: (number | undefined)[] = [];
    const ensure = made.ensure.bind(made);
    made.ensure = (plan) => {
      seen.push((api.get('vpcs', 'acme', 'acme') as VpcObject).status?.index);
      return ensure(plan);
    };
    await until(() => reason('acme') === 'Ready');
    expect(seen).toEqual([1]);
  });

  it('says why a VPC is not made, and why there are none at all', async () => {
    const one = start({ vpcs: [fresh('acme'), fresh('beta')] });
    one.made.refused = 'acme';
    await one.until(() => one.reason('acme') === 'NotMade' && one.reason('beta') === 'Ready');
    expect(findCondition(one.vpc('acme')!.status!.conditions, 'Programmed')?.message).toBe('the kernel said no');
    const none = start({ vpcs: [fresh('acme')] }, () => Promise.resolve({ unable: 'it takes root' }));
    await none.until(() => none.reason('acme') === 'NoNetworks');
  });

  it('tells both sides what became of a peering, whoever changes', async () => {
    const { api, vpc, until } = start({
      vpcs: [fresh('acme', { peers: ['beta'] }), fresh('beta', { subnets: [{ name: 'b', cidr: '10.7.0.0/24' }] })],
    });
    const state = (tenant: string) => vpc(tenant)?.status?.peers?.[0]?.state;
    await until(() => state('acme') === 'Waiting');
    api.put({ ...vpc('beta')!, spec: { ...vpc('beta')!.spec, peers: ['acme'] } }, 'vpcs');
    await until(() => state('acme') === 'Peered' && state('beta') === 'Peered');
  });

  it('says where a worker is once its port is made', async () => {
    const cluster = aResident('acme', 'dev', { workers: [aWorker('dev-a', '10.0.1.10')] });
    const { networks, vpc, until } = start({ vpcs: [fresh('acme')], clusters: [cluster] });
    await until(() => vpc('acme')?.status?.workers === 1);
    expect(await networks.placeOf(cluster, 'dev-a')).toEqual({
      device: { name: 'dev-a', namespace: 'acme' },
      mac: '02:00:00:00:00:01',
      address: '10.0.1.10/24',
      gateway: '10.0.1.1',
    });
    expect(await networks.placeOf(cluster, 'dev-b')).toBeUndefined();
  });

  it('keeps a VPC that is deleted until its last cluster is gone, and then leaves nothing', async () => {
    const { api, made, vpc, reason, until } = start({ vpcs: [fresh('acme')], clusters: [aResident('acme', 'dev')] });
    await until(() => reason('acme') === 'Ready');
    api.put({ ...vpc('acme')!, metadata: { ...vpc('acme')!.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }, 'vpcs');
    await until(() => reason('acme') === 'InUse');
    expect(made.removed).toBe(0);
    api.remove('tenantclusters', 'acme', 'dev');
    await until(() => vpc('acme') === undefined);
    expect(made.removed).toBe(1);
  });

  it('takes away what was made for clusters with the last of them, and not what somebody changed', async () => {
    const [forClusters, changed] = [defaultVpc('acme'), { ...defaultVpc('beta'), metadata: { ...defaultVpc('beta').metadata } }];
    const { api, vpc, reason, until } = start({
      vpcs: [forClusters, changed],
      clusters: [aResident('acme', 'dev'), aResident('beta', 'dev')],
    });
    await until(() => reason('acme') === 'Ready' && reason('beta') === 'Ready');
    const beta = vpc('beta')!;
    api.put({ ...beta, metadata: { ...beta.metadata, generation: 2 }, spec: { ...beta.spec, egress: false } }, 'vpcs');
    await until(() => vpc('beta')?.status?.observedGeneration === 2);
    for (const tenant of ['acme', 'beta']) api.remove('tenantclusters', tenant, 'dev');
    await until(() => vpc('acme') === undefined);
    expect(vpc('beta')).toBeDefined();
  });
});
