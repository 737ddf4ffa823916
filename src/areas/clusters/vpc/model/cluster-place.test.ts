import { describe, expect, it } from 'vitest';
import type { TenantCluster } from '../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { aResident, aVpcObject, aWorker } from '../testing/some-objects.ts';
import { defaultVpc, freeWorkerAddress, placeOf, wantsNetwork } from './cluster-place.ts';

const aCluster = (spec: TenantCluster['spec'], status?: TenantCluster['status']): TenantCluster => ({
  apiVersion: 'tenantry.dev/v1alpha1',
  kind: 'TenantCluster',
  metadata: { name: 'dev', namespace: 'acme' },
  spec,
  status,
});

describe('wantsNetwork', () => {
  it.each<[string, TenantCluster, boolean]>([
    ['one that is no more than its name does not', aCluster({}), false],
    ['one that asks for it does', aCluster({ network: {} }), true],
    ['one with a pool does, however small', aCluster({ nodePools: [{ name: 'workers', replicas: 0 }] }), true],
    [
      'one that was made without stays without',
      aCluster({ nodePools: [{ name: 'w', replicas: 1 }] }, { endpoint: 'https://127.0.0.1:2' }),
      false,
    ],
    ['one that has one keeps it', aResident('acme', 'dev', { endpoint: 'https://100.64.0.2:2' }), true],
  ])('%s', (_name, cluster, expected) => expect(wantsNetwork(cluster)).toBe(expected));
});

describe('placeOf', () => {
  const vpc = aVpcObject('acme', {
    subnets: [
      { name: 'one', cidr: '10.0.1.0/24' },
      { name: 'two', cidr: '10.0.2.0/24', gateway: '10.0.2.254' },
    ],
  });

  it('takes the first subnet and the next range for Pods', () => {
    expect(placeOf(aCluster({ network: {} }), vpc, [aResident('acme', 'stage')])).toEqual({
      network: {
        vpc: 'acme',
        subnet: 'one',
        cidr: '10.0.1.0/24',
        gateway: '10.0.1.1',
        address: '100.64.0.2',
        podCidr: '10.129.0.0/16',
      },
    });
  });

  it('takes what was asked for', () => {
    const cluster = aCluster({ network: { subnet: 'two', podCidr: '172.20.0.0/16', serviceCidr: '172.21.0.0/24' } });
    expect(placeOf(cluster, vpc, [])).toMatchObject({
      network: { subnet: 'two', gateway: '10.0.2.254', podCidr: '172.20.0.0/16', serviceCidr: '172.21.0.0/24' },
    });
  });

  it('keeps what a cluster has, whatever came after', () => {
    const held = aResident('acme', 'dev', { endpoint: 'https://100.64.0.2:2' });
    held.status!.network!.listeners = [{ name: 'names', protocol: 'udp', port: 53 }];
    expect(placeOf(held, vpc, [aResident('acme', 'stage')])).toEqual({ network: held.status!.network });
  });

  it.each<[string, TenantCluster['spec'], RegExp]>([
    ['a subnet that is not there', { network: { subnet: 'three' } }, /has no subnet "three"; add it there, or name one of one, two/],
    ['Pods in a subnet', { network: { podCidr: '10.0.0.0/16' } }, /its podCidr 10.0.0.0\/16 is no \/24 or larger, or overlaps/],
    ['Pods in no range', { network: { podCidr: 'everywhere' } }, /its podCidr everywhere is no/],
    ['too few Pods', { network: { podCidr: '172.20.0.0/25' } }, /is no \/24 or larger/],
  ])('refuses %s', (_name, spec, expected) => expect((placeOf(aCluster(spec), vpc, []) as { problem: string }).problem).toMatch(expected));
});

describe('defaultVpc', () => {
  it('is the same for the same tenant, and named like it', () => {
    expect(defaultVpc('acme')).toEqual(defaultVpc('acme'));
    expect(defaultVpc('acme', 'web')).toMatchObject({
      metadata: { name: 'acme', namespace: 'acme' },
      spec: { subnets: [{ name: 'web' }] },
    });
  });

  it('gives tenants different ranges', () => {
    const ranges = new Set(['acme', 'beta', 'gamma', 'delta', 'epsilon'].map((tenant) => defaultVpc(tenant).spec.subnets[0].cidr));
    expect(ranges.size).toBe(5);
    for (const cidr of ranges) expect(cidr).toMatch(/^10\.([1-9]|[1-8]\d|9[0-5])\.\d+\.0\/22$/);
  });
});

describe('freeWorkerAddress', () => {
  it('is one that nobody in the subnet has, of any cluster', () => {
    const dev = aResident('acme', 'dev', { workers: [aWorker('a', '10.0.1.10')] });
    const stage = aResident('acme', 'stage', { workers: [aWorker('b', '10.0.1.11')] });
    stage.status!.loadBalancers = [{ service: 'web/front', address: '10.0.1.12', ports: [] }];
    expect(freeWorkerAddress(dev, [dev, stage]).address).toBe('10.0.1.13');
  });

  it('differs in its hardware address too', () => {
    const dev = aResident('acme', 'dev');
    const first = freeWorkerAddress(dev, [dev]);
    const then = aResident('acme', 'dev', { workers: [{ ...aWorker('a', first.address), mac: first.mac }] });
    expect(freeWorkerAddress(then, [then]).mac).not.toBe(first.mac);
  });
});
