import { expect, it } from 'vitest';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { TenantBalancers } from '../../access/load-balancer/tenant-balancers.ts';
import { servicesPublished } from './services-published.step.ts';

it('load balancers stay as they are when there are more Services than are looked at, and nothing waits for it', async () => {
  const recorded = [{ service: 'web/front', address: '10.0.1.254', ports: [] }];
  const cluster: TenantCluster = {
    apiVersion: 'tenantry.dev/v1alpha1',
    kind: 'TenantCluster',
    metadata: { name: 'dev', namespace: 'acme' },
    spec: {},
    status: {
      network: { vpc: 'acme', subnet: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1', address: '100.64.0.2' },
      loadBalancers: recorded,
    },
  };
  const unexpected = (): never => {
    throw new Error('not asked');
  };
  const inside = () => Promise.resolve({ services: [], nodes: [], slicesOf: () => [], surplus: 'it has too many' });
  const step = servicesPublished({
    balancers: () => Promise.resolve({ inside, withdraw: unexpected, publish: unexpected, warn: unexpected } as unknown as TenantBalancers),
    vpcOf: unexpected,
    othersOf: unexpected,
    ensureNetwork: unexpected,
  });
  expect(await step.run(cluster, {} as never)).toEqual({ type: 'done', reason: 'TooManyObjects', message: 'it has too many' });
  expect(cluster.status?.loadBalancers).toEqual(recorded);
});
