import { describe, expect, it } from 'vitest';
import { aVpc, named } from '../testing/some-vpcs.ts';
import { agreedPeerings, peeringStates, peersOf } from './peering.ts';
import type { Vpc } from './vpc.ts';

const vpc = (name: string, cidr: string, ...peers: string[]): Vpc =>
  aVpc(name, { subnets: [{ name: 'one', cidr, gateway: cidr.replace('.0/24', '.1') }], peers });

describe('peering', () => {
  it('waits until both sides have named each other', () => {
    const alone = named(vpc('a', '10.0.1.0/24', 'b'), vpc('b', '10.0.2.0/24'));
    expect(peeringStates(alone.get('a')!, alone)).toEqual([
      { peer: 'b', state: 'Waiting', message: 'Cannot peer VPC "b" yet: it has not named a; its owner has to agree' },
    ]);
    expect(agreedPeerings(alone)).toEqual([]);
    const both = named(vpc('a', '10.0.1.0/24', 'b'), vpc('b', '10.0.2.0/24', 'a'));
    expect(peersOf(both.get('a')!, both).map(({ name }) => name)).toEqual(['b']);
    expect(agreedPeerings(both).map(({ vpcs }) => vpcs.map(({ name }) => name))).toEqual([['a', 'b']]);
  });

  it('does not tell a VPC that is not there from one that has not agreed', () => {
    const known = named(vpc('a', '10.0.1.0/24', 'b', 'x'), vpc('b', '10.0.2.0/24'));
    const [present, absent] = peeringStates(known.get('a')!, known) as { message: string }[];
    expect(absent.message).toBe(present.message.replaceAll('"b"', '"x"'));
  });

  it('is refused when addresses overlap, and tells no more than that', () => {
    const same = named(vpc('a', '10.0.1.0/24', 'b'), vpc('b', '10.0.1.0/24', 'a'));
    expect(peeringStates(same.get('a')!, same)).toEqual([
      {
        peer: 'b',
        state: 'Refused',
        message: 'Cannot peer VPC "b": its 10.0.1.0/24 overlaps 10.0.1.0/24; addresses must differ to be routed between VPCs',
      },
    ]);
    expect(agreedPeerings(same)).toEqual([]);
  });

  it('is refused when one side routes the addresses of the other elsewhere', () => {
    const routed = { ...vpc('a', '10.0.1.0/24', 'b'), routes: [{ cidr: '10.0.2.0/25', via: '10.0.1.10' }] };
    const both = named(routed, vpc('b', '10.0.2.0/24', 'a'));
    expect(['a', 'b'].map((name) => peeringStates(both.get(name)!, both)[0].state)).toEqual(['Refused', 'Refused']);
  });

  it('is refused with itself, and is one however often it is named', () => {
    const twice = named(vpc('a', '10.0.1.0/24', 'a', 'b', 'b'), vpc('b', '10.0.2.0/24', 'a'));
    expect(peeringStates(twice.get('a')!, twice).map(({ peer, state }) => [peer, state])).toEqual([
      ['a', 'Refused'],
      ['b', 'Peered'],
    ]);
  });

  it('of three VPCs connects no two that did not agree with each other', () => {
    const three = named(vpc('a', '10.0.1.0/24', 'b', 'c'), vpc('b', '10.0.2.0/24', 'a'), vpc('c', '10.0.3.0/24', 'a'));
    expect(agreedPeerings(three).map(({ vpcs }) => vpcs.map(({ name }) => name).join('-'))).toEqual(['a-b', 'a-c']);
  });
});
