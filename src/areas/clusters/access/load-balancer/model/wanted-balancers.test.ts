import { describe, expect, it } from 'vitest';
import type { TenantCluster } from '../../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { NodeObject } from '../../../workers/model/kept-objects.ts';
import {
  LOAD_BALANCER_CLASS,
  takenAddresses,
  wantedBalancers,
  type BalancedInside,
  type ServiceObject,
  type SliceObject,
} from './wanted-balancers.ts';

const workers = ['w1', 'w2'].map((name, position) => ({
  name,
  pool: 'p',
  address: `10.0.1.${10 + position}`,
  mac: `02:00:00:00:00:0${position}`,
  podCidrs: [`10.128.${position}.0/24`],
}));
const network = { vpc: 'acme', subnet: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1', address: '100.64.0.2' };
const aCluster = (status: TenantCluster['status'] = {}): TenantCluster => ({
  apiVersion: 'tenantry.dev/v1alpha1',
  kind: 'TenantCluster',
  metadata: { name: 'dev', namespace: 'acme' },
  spec: {},
  status: { network, workers, ...status },
});
const aService = (name: string, spec: Partial<NonNullable<ServiceObject['spec']>> = {}): ServiceObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'web', name, uid: name, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { type: 'LoadBalancer', ports: [{ port: 80, nodePort: 30_080, protocol: 'TCP' }], ...spec },
});
const aNode = (name: string, ready = 'True', labels = {}): NodeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels },
  status: { conditions: [{ type: 'Ready', status: ready }] },
});
const aSlice = (...endpoints: [address: string, node: string, ready?: boolean][]): SliceObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 's', namespace: 'web' },
  addressType: 'IPv4',
  ports: [{ port: 8080 }],
  endpoints: endpoints.map(([address, nodeName, ready = true]) => ({ addresses: [address], nodeName, conditions: { ready } })),
});
const inside = (services: ServiceObject[], changes: Partial<BalancedInside> = {}): BalancedInside => ({
  services,
  nodes: [aNode('w1'), aNode('w2')],
  slicesOf: () => [aSlice(['10.128.0.5', 'w1'])],
  ...changes,
});
const backends = (service: ServiceObject, changes: Partial<BalancedInside> = {}): string[] =>
  wantedBalancers(aCluster(), inside([service], changes), []).balancers[0].ports.flatMap(({ backends: all = [] }) =>
    all.map(({ address, port }) => `${address}:${port}`),
  );

describe('wantedBalancers', () => {
  it('gives addresses from the end of the subnet, and those that were given stay', () => {
    const held = { loadBalancers: [{ service: 'web/b', address: '10.0.1.254', ports: [] }] };
    const { balancers } = wantedBalancers(aCluster(held), inside([aService('a'), aService('b')]), ['10.0.1.253']);
    expect(balancers.map(({ service, address }) => [service, address])).toEqual([
      ['web/a', '10.0.1.252'],
      ['web/b', '10.0.1.254'],
    ]);
  });

  const asked: [what: string, service: ServiceObject, address: string | undefined, problem: RegExp | undefined][] = [
    ['the address that is asked for', aService('a', { loadBalancerIP: '10.0.1.77' }), '10.0.1.77', undefined],
    ['none when a worker has it', aService('a', { loadBalancerIP: '10.0.1.10' }), undefined, /it is in use/],
    ['none when it is the gateway', aService('a', { loadBalancerIP: '10.0.1.1' }), undefined, /it is in use/],
    ['none of another subnet', aService('a', { loadBalancerIP: '10.0.2.5' }), undefined, /it is not in 10\.0\.1\.0\/24/],
    ['one of its own class', aService('a', { loadBalancerClass: LOAD_BALANCER_CLASS }), '10.0.1.254', undefined],
    ['none of another class', aService('a', { loadBalancerClass: 'example.com/other' }), undefined, undefined],
    ['none to a Service of another type', aService('a', { type: 'NodePort' }), undefined, undefined],
  ];
  it.each(asked)('gives %s', (_what, service, address, problem) => {
    const cluster = aCluster();
    const { balancers, problems } = wantedBalancers(cluster, inside([service]), takenAddresses(cluster, []));
    expect(balancers[0]?.address).toBe(address);
    if (problem) expect(problems.get('web/a')).toMatch(problem);
    else expect(problems.size).toBe(0);
  });

  it('gives nothing more when the subnet is full', () => {
    const taken = Array.from({ length: 254 }, (_, at) => `10.0.1.${at + 1}`);
    expect(wantedBalancers(aCluster(), inside([aService('a')]), taken).problems.get('web/a')).toMatch(/all of 10\.0\.1\.0\/24 are in use/);
  });

  const behind: [what: string, service: ServiceObject, changes: Partial<BalancedInside>, expected: string[]][] = [
    ['the node ports of all workers', aService('a'), {}, ['10.0.1.10:30080', '10.0.1.11:30080']],
    ['only workers that are ready', aService('a'), { nodes: [aNode('w1', 'False'), aNode('w2')] }, ['10.0.1.11:30080']],
    [
      'no worker that is excluded',
      aService('a'),
      { nodes: [aNode('w1'), aNode('w2', 'True', { 'node.kubernetes.io/exclude-from-external-load-balancers': '' })] },
      ['10.0.1.10:30080'],
    ],
    ['no Node that is no worker of the platform', aService('a'), { nodes: [aNode('stranger'), aNode('w2')] }, ['10.0.1.11:30080']],
    ['nobody when no Pod is ready', aService('a'), { slicesOf: () => [aSlice(['10.128.0.5', 'w1', false])] }, []],
    ['workers with Pods of it for local traffic', aService('a', { externalTrafficPolicy: 'Local' }), {}, ['10.0.1.10:30080']],
    ['Pods where there are no node ports', aService('a', { ports: [{ port: 80 }] }), {}, ['10.128.0.5:8080']],
    [
      'only Pods that are routed',
      aService('a', { ports: [{ port: 80 }] }),
      { slicesOf: () => [aSlice(['172.30.0.5', 'w1'], ['10.128.1.7', 'w2'])] },
      ['10.128.1.7:8080'],
    ],
  ];
  it.each(behind)('leads to %s', (_what, service, changes, expected) => {
    expect(backends(service, changes)).toEqual(expected);
  });

  it('keeps who may use it, and lets nobody in when it cannot tell who', () => {
    const found = (ranges: string[]) =>
      wantedBalancers(aCluster(), inside([aService('a', { loadBalancerSourceRanges: ranges })]), []).balancers[0].sources;
    expect(found(['10.0.0.0/8', ' 192.0.2.0/24 '])).toEqual(['10.0.0.0/8', '192.0.2.0/24']);
    expect(found(['010.0.0.5/8', '::ffff:192.0.2.0/120'])).toEqual(['10.0.0.0/8', '192.0.2.0/24']);
    expect(found(['2001:db8::/32'])).toEqual(['255.255.255.255/32']);
    expect(found([])).toBeUndefined();
  });

  it('bounds what it makes of a cluster, and says so', () => {
    const many = (count: number) => Array.from({ length: count }, (_, port) => ({ port: port + 1, nodePort: 30_000 + port }));
    const services = [aService('a', { ports: many(200) }), aService('b', { ports: many(57) }), aService('c', { ports: many(56) })];
    const { balancers, problems } = wantedBalancers(aCluster(), inside(services), []);
    expect(balancers.map(({ service }) => service)).toEqual(['web/a', 'web/c']);
    expect(problems.get('web/b')).toMatch(/256 ports together/);
    const ranges = Array.from({ length: 65 }, (_, part) => `10.${part}.0.0/16`);
    const open = wantedBalancers(aCluster(), inside([aService('a', { loadBalancerSourceRanges: ranges })]), []);
    expect(open.balancers[0].sources).toEqual(['255.255.255.255/32']);
    expect(open.problems.get('web/a')).toMatch(/more than 64 ranges/);
  });

  it('says which protocol is not balanced, and balances the others', () => {
    const ports = [
      { port: 80, nodePort: 30_080, protocol: 'SCTP' as const },
      { port: 53, nodePort: 30_053, protocol: 'UDP' as const },
    ];
    const { balancers, problems } = wantedBalancers(aCluster(), inside([aService('a', { ports })]), []);
    expect(balancers[0].ports.map(({ protocol, port }) => [protocol, port])).toEqual([['udp', 53]]);
    expect(problems.get('web/a')).toMatch(/SCTP/);
  });
});
