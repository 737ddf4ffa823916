import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Vpc } from '../../../../api/tenantry.dev/v1alpha1/vpc.ts';

type ClusterStatus = NonNullable<TenantCluster['status']>;

/** A tenant's Vpc with one subnet and a number, apart from what is said about it. */
export function aVpcObject(tenant: string, spec: Partial<Vpc['spec']> = {}, index: number | undefined = 1): Vpc {
  return {
    apiVersion: 'tenantry.dev/v1alpha1',
    kind: 'Vpc',
    metadata: { name: tenant, namespace: tenant, uid: `uid-${tenant}`, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { mode: 'Overlay', egress: true, subnets: [{ name: 'one', cidr: '10.0.1.0/24' }], ...spec },
    status: { index, transit: { machine: `100.64.0.${2 * (index ?? 0)}`, router: `100.64.0.${2 * (index ?? 0) + 1}` } },
  };
}

/** A cluster that lives in the subnet `one` of its tenant's VPC. */
export function aResident(tenant: string, name: string, status: ClusterStatus = {}): TenantCluster {
  return {
    apiVersion: 'tenantry.dev/v1alpha1',
    kind: 'TenantCluster',
    metadata: { name, namespace: tenant },
    spec: {},
    status: {
      network: { vpc: tenant, subnet: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1', address: '100.64.0.2', podCidr: '10.128.0.0/16' },
      ...status,
    },
  };
}

export function aWorker(name: string, address: string): NonNullable<ClusterStatus['workers']>[number] {
  return { name, pool: 'workers', address, mac: '02:00:00:00:00:01', attachment: { kind: 'Tap' } };
}
