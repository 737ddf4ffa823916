import { describe, expect, it } from 'vitest';
import type { Vpc } from '../../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { platformOf } from '../../network/model/vpc.ts';
import { aResident, aVpcObject } from '../testing/some-objects.ts';
import { vpcRefusal, type VpcRequest } from './vpc-refusal.ts';

const platform = platformOf();
const asked = (vpc: Vpc, more: Partial<VpcRequest> = {}) => vpcRefusal({ vpc, residents: [], takenVlans: new Set(), platform, ...more });
const subnets = (...cidrs: string[]) => ({ subnets: cidrs.map((cidr, position) => ({ name: ['one', 'two'][position], cidr })) });

describe('vpcRefusal', () => {
  it('says nothing where nothing is wrong', () => expect(asked(aVpcObject('acme'))).toBeUndefined());

  const second = aVpcObject('acme');
  second.metadata = { name: 'second', namespace: 'acme' };
  const tagged = (...vlans: number[]) =>
    aVpcObject('acme', { mode: 'VLAN', subnets: vlans.map((vlan, at) => ({ name: `s${at}`, cidr: `10.0.${at}.0/24`, vlan })) });
  it.each<[string, Vpc, Partial<VpcRequest>, string]>([
    ['a second one', second, {}, 'Cannot have VPC "second": a tenant has one, which is called like it'],
    ['subnets that overlap', aVpcObject('acme', subnets('10.0.0.0/16', '10.0.1.0/24')), {}, '10.0.1.0/24 overlaps 10.0.0.0/16'],
    ['reserved ranges', aVpcObject('acme', subnets('100.64.9.0/24')), {}, 'overlaps 100.64.0.0/10, which cannot be used in a VPC'],
    ['what is no range', aVpcObject('acme', subnets('10.0.0.0')), {}, '"10.0.0.0" is not an IPv4 CIDR'],
    ['an id that another tenant has', tagged(7), { takenVlans: new Set([7]) }, 'Cannot use VLAN "7" for subnet "s0": it is in use'],
    ['one id twice', tagged(7, 7), {}, 'Cannot use VLAN "7" for subnet "s1": it is in use'],
    [
      'a route through nobody of its own',
      aVpcObject('acme', { routes: [{ cidr: '192.168.0.0/16', via: '10.0.9.9' }] }),
      {},
      '10.0.9.9 is not an address of a worker in its subnets',
    ],
    [
      'subnets over the Pods of its clusters',
      aVpcObject('acme', subnets('10.0.1.0/24', '10.128.5.0/24')),
      { residents: [aResident('acme', 'dev')] },
      'Cannot use 10.128.5.0/24 in VPC "acme": Pods of cluster dev have 10.128.0.0/16',
    ],
  ])('refuses %s', (_name, vpc, more, message) => expect(asked(vpc, more)).toContain(message));

  const residents = [aResident('acme', 'stage'), aResident('acme', 'dev')];
  const before = aVpcObject('acme', subnets('10.0.1.0/24', '10.0.2.0/24'));
  it.each<[string, Vpc, string | undefined]>([
    [
      'to take away what clusters live in',
      aVpcObject('acme', { subnets: [{ name: 'two', cidr: '10.0.2.0/24' }] }),
      'Cannot take away subnet "one"',
    ],
    [
      'to change its range',
      aVpcObject('acme', subnets('10.0.1.0/25', '10.0.2.0/24')),
      'Cannot change subnet "one" of VPC acme: clusters dev, stage live in it',
    ],
  ])('refuses %s', (_name, vpc, message) => expect(asked(vpc, { before, residents })).toContain(message));

  it('lets others go, and new ones come', () => {
    const vpc = aVpcObject('acme', {
      subnets: [
        { name: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1' },
        { name: 'x', cidr: '10.9.0.0/24' },
      ],
    });
    expect(asked(vpc, { before, residents })).toBeUndefined();
  });
});
