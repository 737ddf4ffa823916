import { describe, expect, it } from 'vitest';
import type { TenantCluster } from '../../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Vpc } from '../../../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { platformOf } from '../../../network/model/vpc.ts';
import { aVpc } from '../../../network/testing/some-vpcs.ts';
import { gatewayOf, gatewayRefusal } from './gateway.ts';

const peer = (name: string, address: string, publicKey = name) => ({ name, publicKey, addresses: [address] });
const object = (...peers: ReturnType<typeof peer>[]) => ({ spec: { subnets: [], vpn: { peers } } }) as Pick<Vpc, 'spec'>;
const resident = { status: { network: { podCidr: '10.128.0.0/16' } } } as TenantCluster;
const refusal = (...peers: ReturnType<typeof peer>[]) => gatewayRefusal(object(...peers), aVpc('a'), [resident], platformOf());

describe('gatewayRefusal', () => {
  it.each<[what: string, found: string | undefined, expected: RegExp | undefined]>([
    ['peers with keys and addresses of their own', refusal(peer('a', '10.99.0.2/32'), peer('b', '10.99.0.3/32')), undefined],
    ['no range', refusal(peer('a', 'everything')), /is not an IPv4 CIDR/],
    ['addresses of workers', refusal(peer('a', '10.0.1.77/32')), /overlaps 10\.0\.1\.0\/24/],
    ['addresses of Pods', refusal(peer('a', '10.128.3.0/24')), /overlaps 10\.128\.0\.0\/16/],
    ['addresses of the platform', refusal(peer('a', '100.64.0.2/32')), /overlaps 100\.64\.0\.0\/16/],
    ['one key for two', refusal(peer('a', '10.99.0.2/32', 'k'), peer('b', '10.99.0.3/32', 'k')), /"b" in: a has the same key/],
    ['one address for two', refusal(peer('a', '10.99.0.0/24'), peer('b', '10.99.0.3/32')), /is also that of a/],
  ])('says of %s what is wrong with it', (_what, found, expected) => {
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(expected);
  });
});

it('gatewayOf is there once there is an address for it', () => {
  const wanted = object(peer('a', '10.99.0.2/32'));
  expect(gatewayOf(wanted)).toBeUndefined();
  expect(gatewayOf({ ...wanted, status: { external: { address: '198.51.100.7' } } })).toEqual({
    external: '198.51.100.7',
    port: 51_820,
    clients: ['10.99.0.2/32'],
  });
});
