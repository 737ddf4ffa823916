import { describe, expect, test } from 'vitest';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { apiAddresses, excludedRanges } from './cluster-ranges.ts';
import { metadataPatch } from './namespace-metadata.ts';
import { networkPolicies } from './network-policies.ts';
import { ownerObjects } from './owner-objects.ts';
import { limitRange, quotaObjects, usageOf } from './quota-objects.ts';
import { namespaceTaken, problemsOf } from './validate-tenant.ts';

const acme = (spec: Tenant['spec'] = {}, name = 'acme'): Tenant => ({
  apiVersion: 'tenantry.dev/v1alpha1',
  kind: 'Tenant',
  metadata: { name },
  spec,
});
const FACTS = { api: [{ cidr: '10.0.0.1/32', port: 443 }], excluded: ['10.0.0.0/8', 'fc00::/7'] };

describe('the labels of a namespace', () => {
  const SAFE = { 'pod-security.kubernetes.io/enforce': 'baseline', 'pod-security.kubernetes.io/warn': 'baseline' };
  test.each<[string, Parameters<typeof metadataPatch>, unknown]>([
    ['are not written, when they are so', [{}, { labels: SAFE }, true], undefined],
    ['are safe from the start', [{}, {}, true], { metadata: { labels: SAFE } }],
    ['of the platform are the platform’s', [{}, {}, false], undefined],
    [
      'follow the cost labels, those that go included',
      [{ labels: { b: '2' } }, { labels: { a: '1', c: '3' }, annotations: { 'tenantry.dev/cost-labels': 'a' } }, false],
      { metadata: { labels: { a: null, b: '2' }, annotations: { 'tenantry.dev/cost-labels': 'b' } } },
    ],
    ['tell the share of Runs', [{ runs: { share: 4 } }, {}, false], { metadata: { annotations: { 'tenantry.dev/run-share': '4' } } }],
    [
      'forget the share of Runs',
      [{}, { annotations: { 'tenantry.dev/run-share': '4' } }, false],
      { metadata: { annotations: { 'tenantry.dev/run-share': null } } },
    ],
  ])('%s', (_what, args, expected) => {
    expect(metadataPatch(...args)).toEqual(expected);
  });
});

describe('the quota of a tenant', () => {
  test('is one object for the tree and one per scope, and none when there are no limits', () => {
    expect(quotaObjects(acme())).toEqual([]);
    const scopeSelector = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] };
    const quota = { hard: { 'requests.cpu': '1000m' }, namespaces: 5, scoped: [{ name: 'high', hard: { pods: '2' }, scopeSelector }] };
    const [whole, scoped] = quotaObjects(acme({ quota, runs: { maxInFlight: 7 } }));
    const hard = { 'requests.cpu': '1', 'count/subnamespaceanchors.hnc.x-k8s.io': '4', 'tenantry.dev/runs-in-flight': '7' };
    expect(whole).toMatchObject({ metadata: { name: 'tenant', namespace: 'acme' }, spec: { hard } });
    expect(scoped).toMatchObject({ metadata: { name: 'tenant-high' }, spec: { hard: { pods: '2' }, scopeSelector } });
  });

  test('is shown with what is used of it', () => {
    const quota = (name: string, hard: object, used?: object) =>
      ({ apiVersion: '', kind: '', metadata: { name }, spec: { hard }, status: { used } }) as never;
    expect(usageOf([quota('tenant-high', { pods: '2' }), quota('tenant', { cpu: '4' }, { cpu: '1' })])).toEqual({
      cpu: { hard: '4', used: '1' },
      'high:pods': { hard: '2', used: '0' },
    });
  });

  test('comes with limits for containers that have none', () => {
    expect(limitRange(acme()).spec.limits[0]).toMatchObject({
      type: 'Container',
      default: { memory: '1Gi' },
      defaultRequest: { cpu: '100m' },
    });
    expect(limitRange(acme({ quota: { hard: { 'limits.cpu': '4' } } })).spec.limits[0].default).toEqual({ cpu: '1', memory: '1Gi' });
    expect(limitRange(acme({ limits: { max: { cpu: '2000m' } } })).spec.limits).toEqual([{ type: 'Container', max: { cpu: '2' } }]);
  });
});

describe('the boundary of a tenant', () => {
  const egressOf = (spec: Tenant['spec']): string => JSON.stringify(networkPolicies(acme(spec), FACTS)[0].spec.egress);

  test('opens to its own tree, to DNS and the API server, and to the internet without the cluster', () => {
    const [boundary, system] = networkPolicies(acme(), FACTS);
    expect(boundary.spec.policyTypes).toEqual(['Ingress', 'Egress']);
    expect(boundary.spec.ingress[0].from[0].namespaceSelector.matchExpressions).toEqual([
      { key: 'acme.tree.hnc.x-k8s.io/depth', operator: 'Exists' },
    ]);
    expect(boundary.spec.egress[0].to[0].namespaceSelector.matchExpressions).toContainEqual({
      key: 'tenantry.dev/role',
      operator: 'NotIn',
      values: ['tenant-system'],
    });
    expect(boundary.spec.egress).toContainEqual({ to: [{ ipBlock: { cidr: '10.0.0.1/32' } }], ports: [{ protocol: 'TCP', port: 443 }] });
    expect(egressOf({})).toContain('{"cidr":"0.0.0.0/0","except":["10.0.0.0/8"]}');
    expect(boundary.metadata.annotations).toEqual({ 'propagate.hnc.x-k8s.io/all': 'true' });
    expect(system.metadata).toMatchObject({ namespace: 'acme--sys' });
    expect(system.metadata.annotations).toBeUndefined();
    expect(JSON.stringify(system.spec.ingress)).not.toContain('depth');
  });

  test('closes what the Tenant closes, and opens what it opens', () => {
    expect(egressOf({ network: { internet: false } })).not.toContain('0.0.0.0/0');
    expect(egressOf({ network: { between: 'Namespace' } })).not.toContain('depth');
    expect(egressOf({ network: { allow: [{ cidr: '10.9.0.0/16', ports: [5432] }] } })).toContain(
      '{"to":[{"ipBlock":{"cidr":"10.9.0.0/16"}}],"ports":[{"protocol":"TCP","port":5432}]}',
    );
  });

  test('leaves out of the internet what the cluster has in public ranges', () => {
    const node = (address: string, podCIDRs: string[]) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n' },
      spec: { podCIDRs },
      status: { addresses: [{ type: 'InternalIP', address }] },
    });
    const ranges = excludedRanges([node('203.0.113.9', ['198.51.100.0/24']), node('10.1.1.1', ['fd00::/64'])]);
    expect(ranges.slice(-2)).toEqual(['198.51.100.0/24', '203.0.113.9/32']);
    expect(ranges).not.toContain('10.1.1.1/32');
  });

  test('knows the API server by its Service and what is behind it', () => {
    const service = { apiVersion: 'v1', kind: 'Service', metadata: {}, spec: { clusterIPs: ['10.0.0.1'], ports: [{ port: 443 }] } };
    const slice = {
      apiVersion: 'v1',
      kind: 'EndpointSlice',
      metadata: {},
      endpoints: [{ addresses: ['192.0.2.1'] }],
      ports: [{ port: 6443 }],
    };
    expect(apiAddresses(service, [slice])).toEqual([
      { cidr: '10.0.0.1/32', port: 443 },
      { cidr: '192.0.2.1/32', port: 6443 },
    ]);
  });
});

describe('the rights of owners', () => {
  test('are a binding in the root and the right to see the own Tenant; without owners nothing', () => {
    expect(ownerObjects(acme())).toEqual({ roleBindings: [], clusterRoles: [], clusterRoleBindings: [] });
    const owners = [
      { kind: 'User' as const, name: 'alice' },
      { kind: 'ServiceAccount' as const, name: 'ci', namespace: 'acme' },
    ];
    const { roleBindings, clusterRoles } = ownerObjects(acme({ owners }));
    expect(roleBindings[0]).toMatchObject({ metadata: { namespace: 'acme' }, roleRef: { name: 'tenantry:tenant-owner' } });
    expect(roleBindings[0].subjects).toEqual([{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }, owners[1]]);
    expect(clusterRoles[0].rules).toEqual([
      { apiGroups: ['tenantry.dev'], resources: ['tenants'], resourceNames: ['acme'], verbs: ['get', 'list', 'watch'] },
    ]);
  });
});

describe('a Tenant that makes no sense', () => {
  test.each<[string, Tenant, string]>([
    ['owned by everybody', acme({ owners: [{ kind: 'Group', name: 'system:authenticated' }] }), 'cannot own a tenant'],
    ['with labels that mean something', acme({ labels: { 'x.tenantry.dev/y': '1' } }), 'is reserved'],
    ['with a range that is none', acme({ network: { allow: [{ cidr: '10.0.0.1/8' }] } }), 'is not a range of addresses'],
    ['dedicated to no nodes', acme({ isolation: 'DedicatedNodes', nodePool: { matchLabels: {} } }), 'spec.nodePool: is needed'],
    ['named like the platform', acme({}, 'kube-foo'), 'is a name of the platform'],
    [
      'with no room for what the platform writes',
      acme({ quota: { hard: { 'count/networkpolicies.networking.k8s.io': '3' } } }),
      'the platform itself writes',
    ],
  ])('%s, is refused', (_what, tenant, problem) => {
    expect(problemsOf(tenant)).toEqual([expect.stringContaining(problem)]);
  });

  test.each<[string, Parameters<typeof namespaceTaken>, string | undefined]>([
    ['nothing is there', ['acme', undefined, undefined], undefined],
    ['it is there already', ['acme', { tenant: 'acme', terminating: false }, { role: 'tenant-system', terminating: false }], undefined],
    ['the root is somebody’s', ['acme', { terminating: false }, undefined], "it exists and is not the tenant's"],
    ['the root is below another', ['acme', { tenant: 'acme', parent: 'x', terminating: false }, undefined], 'it is below another'],
    ['the system namespace is somebody’s', ['acme', undefined, { terminating: false }], "is not the platform's"],
  ])('or whose namespaces are not free, is known: %s', (_what, args, problem) => {
    if (problem === undefined) expect(namespaceTaken(...args)).toBeUndefined();
    else expect(namespaceTaken(...args)).toContain(problem);
  });
});
