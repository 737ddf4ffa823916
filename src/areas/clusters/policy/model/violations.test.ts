import { expect, it } from 'vitest';
import type { ClusterPolicy } from '../../../../api/tenantry.dev/v1alpha1/cluster-policy.ts';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { boundsOf } from './bounds.ts';
import type { Offers } from './offers.ts';
import { placementOf } from './placement.ts';
import { newViolations, violationsOf } from './violations.ts';

const NOW = Date.parse('2026-11-15T00:00:00Z');
const TENANT: Tenant = {
  apiVersion: 'tenantry.dev/v1alpha1',
  kind: 'Tenant',
  metadata: { name: 'acme', labels: { tier: 'gold' } },
  spec: {},
};
const OFFERS: Offers = {
  controlPlanes: [{ provider: 'embedded', versions: ['1.35.4'], maxReplicas: 1 }],
  machines: [],
  networks: { unable: 'it takes root' },
};
const BOTH: Offers = {
  ...OFFERS,
  controlPlanes: [...OFFERS.controlPlanes, { provider: 'kubernetes', versions: ['1.36.1', '1.35.4'], maxReplicas: 3 }],
  machines: [{ name: 'gvisor', isolation: 'Sandbox' }],
};

function aCluster(spec: TenantCluster['spec'] = {}, status?: TenantCluster['status'], name = 'dev'): TenantCluster {
  return { apiVersion: 'tenantry.dev/v1alpha1', kind: 'TenantCluster', metadata: { name, namespace: 'acme' }, spec, status };
}

function aPolicy(spec: ClusterPolicy['spec'] = {}, name = 'default'): ClusterPolicy {
  return { apiVersion: 'tenantry.dev/v1alpha1', kind: 'ClusterPolicy', metadata: { name }, spec };
}

function messages(cluster: TenantCluster, policies: ClusterPolicy[], others: TenantCluster[] = [], offers = OFFERS): string[] {
  return violationsOf(cluster, others, boundsOf(TENANT, policies)!, offers, NOW).map(({ message }) => message);
}

it.each<[string, ClusterPolicy['spec']['tenants'], boolean]>([
  ['all tenants without a selector', undefined, true],
  ['a tenant by its name', { names: ['acme'] }, true],
  ['a tenant by its labels', { matchLabels: { tier: 'gold' } }, true],
  ['no tenant of another name', { names: ['beta'] }, false],
  ['no tenant with other labels', { matchLabels: { tier: 'gold', zone: 'eu' } }, false],
  ['no tenant by no labels', { matchLabels: {} }, false],
])('a policy selects %s', (_name, tenants, expected) => {
  expect(boundsOf(TENANT, [aPolicy({ tenants })]) !== undefined).toBe(expected);
});

it('of several policies the strictest bound holds, and is named', () => {
  const bounds = boundsOf(TENANT, [
    aPolicy({ max: { clusters: 5, memory: '8Gi' }, minimumKernelIsolation: 'Sandbox', controlPlanes: ['embedded', 'kubernetes'] }, 'a'),
    aPolicy({ max: { clusters: 2, memory: '10G' }, minimumKernelIsolation: 'Kernel', controlPlanes: ['embedded'] }, 'b'),
  ])!;
  expect(bounds.clusters).toEqual({ value: 2, policy: 'b' });
  expect(bounds.memory?.policy).toBe('a');
  expect(bounds.minimumKernelIsolation).toEqual({ value: 'Kernel', policy: 'b' });
  expect(bounds.controlPlanes).toEqual(['embedded']);
});

it('an add-on that is mandatory for one policy is mandatory', () => {
  const bounds = boundsOf(TENANT, [
    aPolicy({ addOns: [{ name: 'limits', mandatory: false }] }, 'a'),
    aPolicy({ addOns: [{ name: 'limits', mandatory: true }] }, 'b'),
  ])!;
  expect(bounds.addOns).toEqual([{ name: 'limits', mandatory: true, configMap: undefined }]);
});

const v = (version: string, classification?: 'preview' | 'supported' | 'deprecated' | 'expired', expirationDate?: string) => ({
  version,
  classification,
  expirationDate,
});

it.each<[string, TenantCluster, ClusterPolicy['spec'], Offers, string]>([
  ['the version that is served', aCluster(), {}, OFFERS, 'embedded 1.35.4'],
  ['the newest of all, from real Kubernetes', aCluster(), {}, BOTH, 'kubernetes 1.36.1'],
  ['the version that is asked for', aCluster({ version: '1.35' }), {}, BOTH, 'kubernetes 1.35.4'],
  ['the provider that is asked for', aCluster({ controlPlane: { provider: 'embedded' } }), {}, BOTH, 'embedded 1.35.4'],
  ['only what the policy allows', aCluster(), { controlPlanes: ['embedded'] }, BOTH, 'embedded 1.35.4'],
  ['no preview that nobody asked for', aCluster(), { versions: [v('1.36', 'preview'), v('1.35')] }, BOTH, 'kubernetes 1.35.4'],
  ['a preview that is asked for', aCluster({ version: '1.36' }), { versions: [v('1.36', 'preview')] }, BOTH, 'kubernetes 1.36.1'],
  [
    'the place it has',
    aCluster({}, { provider: 'embedded', version: '1.35.4' }),
    { versions: [v('1.35', 'deprecated')] },
    BOTH,
    'embedded 1.35.4',
  ],
])('placementOf gives a cluster %s', (_name, cluster, policy, offers, expected) => {
  const placement = placementOf(cluster, boundsOf(TENANT, [aPolicy(policy)])!, offers, NOW);
  expect('refusal' in placement ? placement.refusal : `${placement.provider} ${placement.version}`).toBe(expected);
});

it.each<[string, TenantCluster, ClusterPolicy['spec'], RegExp]>([
  [
    'a version that nobody serves',
    aCluster({ version: '1.30' }),
    {},
    /no control plane here serves version 1\.30: embedded serves 1\.35\.4/,
  ],
  ['a version that is not in the policy', aCluster(), { versions: [v('1.34')] }, /ClusterPolicy "default" does not allow version 1\.35\.4/],
  ['a deprecated version', aCluster(), { versions: [v('1.35', 'deprecated')] }, /is deprecated: .*new ones cannot get it/],
  ['an expired version', aCluster(), { versions: [v('1.35', 'expired')] }, /has expired/],
  ['a version after its date', aCluster(), { versions: [v('1.35', 'supported', '2026-11-01T00:00:00Z')] }, /has expired/],
  [
    'a provider that is not there',
    aCluster({ controlPlane: { provider: 'kubernetes' } }),
    {},
    /no control plane "kubernetes" can be had here/,
  ],
  [
    'a provider that is not allowed',
    aCluster({ controlPlane: { provider: 'embedded' } }),
    { controlPlanes: ['kubernetes'] },
    /does not allow control plane "embedded"/,
  ],
  ['more replicas than there can be', aCluster({ controlPlane: { replicas: 3 } }), {}, /has one replica here and 3 are asked for/],
  [
    'more replicas than the policy allows',
    aCluster({ controlPlane: { replicas: 3 } }),
    { max: { controlPlaneReplicas: 1 } },
    /may have 1 replica and asks for 3; .*max\.controlPlaneReplicas of ClusterPolicy "default"/,
  ],
  ['workers that nobody has', aCluster({ nodePools: [{ name: 'w', replicas: 1 }] }), {}, /node pool "w" needs workers/],
  [
    'less isolation than is wanted',
    aCluster({ nodePools: [{ name: 'w', replicas: 0, kernelIsolation: 'Sandbox' }] }),
    { minimumKernelIsolation: 'Kernel' },
    /wants Kernel at least/,
  ],
  [
    'a network of its own',
    aCluster({ network: { subnet: 'a' } }),
    {},
    /no networks for tenant clusters: it takes root. Ask the operator, or leave spec.network out/,
  ],
  [
    'an add-on that nobody offers',
    aCluster({ addOns: ['x'] }),
    { addOns: [{ name: 'limits' }] },
    /offers no add-on "x"; choose from limits/,
  ],
])('violationsOf refuses %s', (_name, cluster, policy, expected) => {
  expect(messages(cluster, [aPolicy(policy)]).join('\n')).toMatch(expected);
});

it.each<[string, ClusterPolicy['spec']['max'], TenantCluster, RegExp | undefined]>([
  ['as many clusters as it may', { clusters: 2 }, aCluster(), undefined],
  [
    'a cluster too many',
    { clusters: 1 },
    aCluster(),
    /may have 1 clusters and has 2 with this one; .*max\.clusters of ClusterPolicy "default"/,
  ],
  [
    'workers of all clusters together',
    { workers: 4 },
    aCluster({ nodePools: [{ name: 'w', replicas: 2 }] }),
    /may have 4 workers and has 5 with this one/,
  ],
  [
    'CPUs of all workers together',
    { cpu: '4' },
    aCluster({ nodePools: [{ name: 'w', replicas: 2, cpu: '1' }] }),
    /may have 4 CPUs of workers and has 5 with this one/,
  ],
  [
    'memory of all workers together',
    { memory: '6Gi' },
    aCluster({ nodePools: [{ name: 'w', replicas: 2, memory: '512Mi' }] }),
    /may have 6Gi memory of workers and has 7Gi with this one/,
  ],
  [
    'disk of all workers together, with what a pool has that asks for none',
    { disk: '30Gi' },
    aCluster({ nodePools: [{ name: 'w', replicas: 2, disk: '10Gi' }] }),
    /may have 30Gi disk of workers and has 32Gi with this one; .*max\.disk of ClusterPolicy "default"/,
  ],
])('a tenant is measured by %s', (_name, max, cluster, expected) => {
  const other = aCluster({ nodePools: [{ name: 'w', replicas: 3, cpu: '1', memory: '2Gi' }] }, undefined, 'other');
  const found = messages(cluster, [aPolicy({ max })], [other], BOTH);
  if (expected === undefined) expect(found).toEqual([]);
  else expect(found.join('\n')).toMatch(expected);
});

it('a cluster that bounds have shrunk below may be changed, and may not become more', () => {
  const bounds = boundsOf(TENANT, [aPolicy({ max: { workers: 1 } })])!;
  const judge = (replicas: number) => violationsOf(aCluster({ nodePools: [{ name: 'w', replicas }] }), [], bounds, BOTH, NOW);
  expect(newViolations(judge(3), judge(3))).toEqual([]);
  expect(newViolations(judge(3), judge(2))).toEqual([]);
  expect(newViolations(judge(3), judge(4))).toHaveLength(1);
});

it('a cluster whose version has expired may be upgraded to the next, and to no other', () => {
  const versions = [
    { version: '1.34', classification: 'expired' as const },
    { version: '1.35', classification: 'supported' as const },
    { version: '1.36', classification: 'supported' as const },
  ];
  const bounds = boundsOf(TENANT, [aPolicy({ versions })])!;
  const judge = (version: string) =>
    violationsOf(
      aCluster({ version, controlPlane: { provider: 'kubernetes' } }, { provider: 'kubernetes', version: '1.34.4' }),
      [],
      bounds,
      OLD,
      NOW,
    );
  const OLD: Offers = { ...OFFERS, controlPlanes: [{ provider: 'kubernetes', versions: ['1.36.1', '1.35.4', '1.34.4'], maxReplicas: 1 }] };
  expect(newViolations(judge('1.34'), judge('1.35'))).toEqual([]);
  expect(newViolations(judge('1.34'), judge('1.36'))).toHaveLength(1);
});
