import { describe, expect, it } from 'vitest';
import {
  firstAddress,
  freeAddress,
  freeIndex,
  freeVlan,
  isVlan,
  lastIndex,
  macOf,
  peerAddressOf,
  sourcesOf,
  uplinkOf,
} from './address-plan.ts';
import { platformOf } from './vpc.ts';

const platform = platformOf();
const subnet = (cidr: string): { name: string; cidr: string; gateway: string } => ({ name: 'one', cidr, gateway: firstAddress(cidr) });

describe('transit addresses', () => {
  it('come in pairs that no two VPCs share', () => {
    expect(uplinkOf(platform, 1)).toEqual({ platform: '100.64.0.2', router: '100.64.0.3' });
    expect(uplinkOf(platform, 200)).toEqual({ platform: '100.64.1.144', router: '100.64.1.145' });
    const last = uplinkOf(platform, lastIndex(platform));
    expect(last.router).toBe('100.64.255.253');
    expect(peerAddressOf(lastIndex(platform))).toBe('169.254.127.254');
  });

  it('go to whoever comes, the first free pair first', () => {
    expect(freeIndex(platform, [])).toBe(1);
    expect(freeIndex(platform, [1, 3, 2, 5])).toBe(4);
    const small = platformOf([], '100.64.0.0/29');
    expect(freeIndex(small, [1])).toBe(2);
    expect(() => freeIndex(small, [1, 2])).toThrow(
      'Cannot make another VPC: all 2 pairs of addresses in "100.64.0.0/29" are in use; name a larger range',
    );
  });
});

describe('VLAN ids', () => {
  it('are given once', () => {
    expect(freeVlan([])).toBe(2);
    expect(freeVlan([2, 3, 5])).toBe(4);
    expect(() => freeVlan(Array.from({ length: 4095 }, (_, id) => id))).toThrow('all ids are in use');
    expect([1, 2, 4094, 4095, 2.5].map(isVlan)).toEqual([false, true, true, false, false]);
  });
});

describe('addresses of workers', () => {
  it('leave the gateway and the first ones alone', () => {
    expect(freeAddress(subnet('10.0.1.0/24'), [])).toBe('10.0.1.10');
    expect(freeAddress(subnet('10.0.1.0/24'), ['10.0.1.10', '10.0.1.12'])).toBe('10.0.1.11');
    expect(freeAddress(subnet('10.0.1.0/28'), [])).toBe('10.0.1.2');
    expect(freeAddress({ name: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.10' }, [])).toBe('10.0.1.11');
  });

  it('run out, without the broadcast address being given', () => {
    const taken = Array.from({ length: 13 }, (_, offset) => `10.0.1.${offset + 2}`);
    expect(() => freeAddress(subnet('10.0.1.0/28'), taken)).toThrow(
      'Cannot give another worker an address of subnet "one": all of 10.0.1.0/28 are in use',
    );
  });

  it('make hardware addresses that are local, stable and different', () => {
    expect(macOf('acme', '10.0.1.10')).toMatch(/^02:[0-9a-f]{2}:0a:00:01:0a$/);
    expect(macOf('acme', '10.0.1.10')).toBe(macOf('acme', '10.0.1.10'));
    expect(macOf('acme', '10.0.1.10')).not.toBe(macOf('acme', '10.0.1.11'));
  });

  it('bring along what is routed through the worker', () => {
    const routes = [
      { cidr: '10.244.1.0/24', via: '10.0.1.10' },
      { cidr: '10.244.2.0/24', via: '10.0.1.11' },
    ];
    expect(sourcesOf({ routes }, '10.0.1.10')).toEqual(['10.0.1.10', '10.244.1.0/24']);
  });
});
