import { describe, expect, it } from 'vitest';
import { addressAt, contains, ipv4Range, overlap, toNumber, toText } from './ipv4-range.ts';

describe('ranges of addresses', () => {
  it('know their addresses', () => {
    expect(addressAt(ipv4Range('10.96.0.0/12'), 10)).toBe('10.96.0.10');
    expect(addressAt(ipv4Range('255.255.255.0/24'), 255)).toBe('255.255.255.255');
    expect(() => ipv4Range('fd00::/64')).toThrow('not an IPv4 CIDR');
  });

  it('overlap when one address is in both', () => {
    expect(overlap(ipv4Range('10.0.0.0/24'), ipv4Range('10.0.0.128/25'))).toBe(true);
    expect(overlap(ipv4Range('10.0.0.0/25'), ipv4Range('10.0.0.128/25'))).toBe(false);
    expect(contains(ipv4Range('10.0.0.0/25'), '10.0.0.127')).toBe(true);
    expect(contains(ipv4Range('10.0.0.0/25'), '10.0.0.128')).toBe(false);
  });

  it('reads what it writes, for the highest address too', () => {
    for (const address of ['0.0.0.0', '10.1.2.3', '255.255.255.255']) expect(toText(toNumber(address))).toBe(address);
  });
});
