import { describe, expect, it } from 'vitest';
import { AddressPool } from './address-pool.ts';
import { ipv4Range } from '../../../../kube/ipv4-range.ts';
import { chooseRange, POD_RANGES } from './pod-ranges.ts';

const range = ipv4Range('10.9.0.0/30');

describe('AddressPool', () => {
  it('gives a Pod the same address whenever asked, also after a restart', () => {
    const pool = new AddressPool(range);
    const address = pool.assign('a');
    expect(pool.assign('a')).toBe(address);
    expect(new AddressPool(range, JSON.parse(JSON.stringify(pool.state()))).assign('a')).toBe(address);
    expect(pool.holder(address)).toBe('a');
  });

  it('gives an address that was let go last of all', () => {
    const pool = new AddressPool(range);
    const first = pool.assign('a');
    pool.assign('b');
    pool.release('a');
    expect([pool.assign('c'), pool.assign('d'), pool.assign('e')]).toEqual(['10.9.0.2', '10.9.0.3', first]);
  });

  it('says that it is empty, and how to help', () => {
    const pool = new AddressPool(range);
    for (const uid of ['a', 'b', 'c', 'd']) pool.assign(uid);
    expect(() => pool.assign('e')).toThrow('Cannot give Pod "e" an address: all 4 are in use');
  });

  it('takes the address that a link was found with, unless another Pod has it', () => {
    const pool = new AddressPool(range);
    expect(pool.assign('a', '10.9.0.3')).toBe('10.9.0.3');
    expect(pool.assign('b', '10.9.0.3')).toBe('10.9.0.0');
    expect(pool.assign('c', '10.8.0.1')).toBe('10.9.0.1');
  });

  it('ignores a state that does not fit', () => {
    const pool = new AddressPool(range, { assigned: { a: '10.9.0.1', b: '10.9.0.1', c: '192.168.0.1' }, cursor: '1.2.3.4' });
    expect(pool.uids()).toEqual(['a']);
    expect(pool.assign('b')).toBe('10.9.0.0');
  });
});

describe('ranges of addresses', () => {
  it('are chosen beside those that the machine uses', () => {
    expect(chooseRange(POD_RANGES, [])).toBe('10.244.0.0/16');
    expect(chooseRange(POD_RANGES, ['10.244.3.0/24', '10.245.0.0/16'])).toBe('10.246.0.0/16');
    expect(chooseRange(POD_RANGES, ['10.0.0.0/8'])).toBe('172.24.0.0/16');
    expect(() => chooseRange(POD_RANGES, ['10.0.0.0/8', '172.16.0.0/12'])).toThrow('Cannot choose addresses for Pods');
  });
});
