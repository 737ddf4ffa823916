import { describe, expect, it } from 'vitest';
import { isInside, isPrivate, publicPart } from './private-ranges.ts';

describe('ranges that a plugin names', () => {
  it.each([
    ['10.1.2.0/24', true],
    ['169.254.169.254/32', true],
    ['127.0.0.1/32', true],
    ['172.31.0.0/16', true],
    ['172.32.0.0/16', false],
    ['fd00::1/128', true],
    ['::1/128', true],
    ['203.0.113.0/24', false],
    ['0.0.0.0/0', false],
    ['10.0.0.0/7', false],
    ['2001:db8::/32', false],
  ])('%s is private: %s', (cidr, expected) => {
    expect(isPrivate(cidr)).toBe(expected);
  });

  it('leave out the private ones, when they are wide', () => {
    expect(publicPart('0.0.0.0/0').except).toContain('169.254.0.0/16');
    expect(publicPart('10.0.0.0/7')).toEqual({ cidr: '10.0.0.0/7', except: ['10.0.0.0/8'] });
    expect(publicPart('::/0').except).toEqual(['::/127', 'fc00::/7', 'fe80::/10']);
  });

  it('stay as they are, when they are public or private as a whole', () => {
    expect(publicPart('203.0.113.0/24')).toEqual({ cidr: '203.0.113.0/24' });
    expect(publicPart('10.0.0.0/8')).toEqual({ cidr: '10.0.0.0/8' });
  });

  it('may be inside of what somebody allows', () => {
    expect(isInside('10.1.2.3/32', ['10.1.0.0/16'])).toBe(true);
    expect(isInside('10.2.0.0/15', ['10.2.0.0/16'])).toBe(false);
  });
});
