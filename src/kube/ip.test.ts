import { describe, expect, it } from 'vitest';
import { cidrContains, parseCidr, parseIp, validateCidr, validateIp, validateLegacyCidr, validateLegacyIp } from './ip.ts';

const BAD_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const BAD_CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

const detailOf = (errors: { message: string }[]): string =>
  errors.map((e) => e.message.replace(/^Invalid value: "[^"]*": /, '')).join('; ');

describe('validateIp', () => {
  it.each([
    ['1.2.3.4', ''],
    ['0.0.0.0', ''],
    ['1234::abcd', ''],
    ['::', ''],
    ['::1', ''],
    ['1::', ''],
    ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ''],
    ['1:0:0:2:0:0:0:3', 'must be in canonical form ("1:0:0:2::3")'],
    ['0:0:0:0:0:0:0:0', 'must be in canonical form ("::")'],
    ['0001:002:03:4::', 'must be in canonical form ("1:2:3:4::")'],
    ['1234::ABCD', 'must be in canonical form ("1234::abcd")'],
    ['1.1.1.01', 'must not have leading 0s'],
    ['::ffff:1.1.1.1', 'must not be an IPv4-mapped IPv6 address'],
    ['', BAD_IP],
    ['aaaaaaa', BAD_IP],
    ['1.2.3.0/24', BAD_IP],
    ['1.2.3.400', BAD_IP],
    ['-1.0.0.0', BAD_IP],
    ['2001:db8::10005', BAD_IP],
    ['1.2.3.4:80', BAD_IP],
    ['[2001:db8::1]', BAD_IP],
    ['example.com:80', BAD_IP],
    ['1234::abcd%eth0', BAD_IP],
    ['169.254.0.0%eth0', BAD_IP],
    ['1:::2', BAD_IP],
    ['1:2:3:4:5:6:7', BAD_IP],
    ['1:2:3:4:5:6:7:8:9', BAD_IP],
    ['1:2:3:4:5:6:7::8', BAD_IP],
  ])('%j', (value, detail) => expect(detailOf(validateIp('ip', value))).toBe(detail));
});

describe('validateLegacyIp accepts every readable form', () => {
  it.each(['1.1.1.01', '::ffff:1.1.1.1', '0:0:0:0:0:0:0:1', '64:ff9b::1.2.3.4'])('%j', (value) =>
    expect(validateLegacyIp('ip', value)).toEqual([]),
  );
  it('and refuses the rest', () => expect(detailOf(validateLegacyIp('ip', 'x'))).toBe(BAD_IP));
});

describe('validateCidr', () => {
  it.each([
    ['1.0.0.0/8', ''],
    ['0.0.0.0/0', ''],
    ['2001:db8::/32', ''],
    ['::1/128', ''],
    ['2001:0db8::/32', 'must be in canonical form ("2001:db8::/32")'],
    ['1.002.0.0/16', 'must not have leading 0s in IP or prefix length'],
    ['1.2.0.0/016', 'must not have leading 0s in IP or prefix length'],
    ['::ffff:1.2.3.0/120', 'must not have an IPv4-mapped IPv6 address'],
    ['1.2.3.4/24', 'must not have bits set beyond the prefix length'],
    ['1.2.3.4', BAD_CIDR],
    ['1.2.3.0/33', BAD_CIDR],
    ['1.2.3.0/-1', BAD_CIDR],
    ['2001:db8::/200', BAD_CIDR],
    ['/', BAD_CIDR],
  ])('%j', (value, detail) => expect(detailOf(validateCidr('cidr', value))).toBe(detail));

  it('legacy fields accept an address with a prefix', () => expect(validateLegacyCidr('cidr', '1.2.3.4/24')).toEqual([]));
});

it('cidrContains compares within one family', () => {
  const range = parseCidr('10.1.0.0/15')!;
  const inRange = (ip: string): boolean => cidrContains(range, parseIp(ip)!);
  expect([inRange('10.0.255.255'), inRange('10.1.2.3'), inRange('10.0.0.1'), inRange('::1')]).toEqual([true, true, true, false]);
  expect(cidrContains(parseCidr('10.1.0.0/16')!, parseIp('10.0.0.1')!)).toBe(false);
});
