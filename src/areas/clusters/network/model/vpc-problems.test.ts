import { describe, expect, it } from 'vitest';
import { aPort, aVpc } from '../testing/some-vpcs.ts';
import { platformOf, type Vpc } from './vpc.ts';
import { planProblems, vpcProblems } from './vpc-problems.ts';

const platform = platformOf();
const subnet = (name: string, cidr: string, gateway: string): Vpc['subnets'][number] => ({ name, cidr, gateway });

describe('vpcProblems', () => {
  const cases: [name: string, vpc: Vpc, problems: string[]][] = [
    ['none, in a plain VPC', aVpc('a', { ports: [aPort('w', '10.0.1.10')] }), []],
    [
      'two subnets that overlap',
      aVpc('a', { subnets: [subnet('one', '10.0.0.0/16', '10.0.0.1'), subnet('two', '10.0.3.0/24', '10.0.3.1')] }),
      ['Cannot make subnet "two" of VPC a: 10.0.3.0/24 overlaps 10.0.0.0/16 of subnet one; choose another range'],
    ],
    [
      'two subnets of one name',
      aVpc('a', { subnets: [subnet('one', '10.0.1.0/24', '10.0.1.1'), subnet('one', '10.0.2.0/24', '10.0.2.1')] }),
      ['Cannot make two subnets "one" in VPC a: names are unique; choose another'],
    ],
    [
      'a subnet in the transit range',
      aVpc('a', { subnets: [subnet('one', '100.64.1.0/24', '100.64.1.1')] }),
      ['Cannot make subnet "one" of VPC a: 100.64.1.0/24 overlaps 100.64.0.0/10, which cannot be used in a VPC; choose another range'],
    ],
    [
      'a subnet that is no range',
      aVpc('a', { subnets: [subnet('one', '10.0.1.0', '10.0.1.1')], ports: [aPort('w', '10.9.9.9')] }),
      ['Cannot make subnet "one" of VPC a: "10.0.1.0" is not an IPv4 CIDR; write one such as 10.0.1.0/24'],
    ],
    ...['012.0.1.0/24', '::ffff:a00:0/104', '10.0.1.7/24'].map((cidr): [string, Vpc, string[]] => [
      `a subnet that others read otherwise, ${cidr}`,
      aVpc('a', { subnets: [subnet('one', cidr, '10.0.1.1')] }),
      [`Cannot make subnet "one" of VPC a: "${cidr}" is not an IPv4 CIDR; write one such as 10.0.1.0/24`],
    ]),
    [
      'a subnet with no room',
      aVpc('a', { subnets: [subnet('one', '10.0.1.0/30', '10.0.1.1')] }),
      ['Cannot make subnet "one" of VPC a: a subnet is between a /8 and a /28, and 10.0.1.0/30 is not; choose another size'],
    ],
    [
      'a gateway outside',
      aVpc('a', { subnets: [subnet('one', '10.0.1.0/24', '10.0.2.1')] }),
      ['Cannot make subnet "one" of VPC a: its gateway 10.0.2.1 is not an address in 10.0.1.0/24; choose one that is'],
    ],
    [
      'a gateway that is the broadcast address',
      aVpc('a', { subnets: [subnet('one', '10.0.1.0/24', '10.0.1.255')] }),
      ['Cannot make subnet "one" of VPC a: its gateway 10.0.1.255 is not an address in 10.0.1.0/24; choose one that is'],
    ],
    [
      'VLAN without a tag',
      aVpc('a', { mode: 'VLAN' }),
      ['Cannot make subnet "one" of VPC a: the mode VLAN needs a tag from 2 to 4094, and it has none; name one'],
    ],
    [
      'a tag in an overlay',
      aVpc('a', { subnets: [{ name: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1', vlan: 7 }] }),
      ['Cannot make subnet "one" of VPC a: it has VLAN 7 in the mode Overlay; leave it out'],
    ],
    [
      'a pair of addresses that is none',
      aVpc('a', { index: 0 }),
      ['Cannot make VPC "a": 0 is no pair of addresses in 100.64.0.0/16; give it a free one'],
    ],
    [
      'a worker in no subnet',
      aVpc('a', { ports: [aPort('w', '10.0.1.10', { subnet: 'two' })] }),
      ['Cannot make port "w" of VPC a: there is no subnet two; name one of one'],
    ],
    [
      'a worker with the address of the gateway',
      aVpc('a', { ports: [aPort('w', '10.0.1.1')] }),
      ['Cannot make port "w" of VPC a: 10.0.1.1 is not a worker\'s address in 10.0.1.0/24; choose another'],
    ],
    [
      'two workers with one address',
      aVpc('a', { ports: [aPort('v', '10.0.1.10'), aPort('w', '10.0.1.10', { mac: '02:00:00:00:00:02' })] }),
      ['Cannot give address "10.0.1.10" to port w of VPC a: port v has it; choose another'],
    ],
    [
      'a route through nobody',
      aVpc('a', { routes: [{ cidr: '10.244.0.0/24', via: '10.0.2.10' }] }),
      ['Cannot make route "10.244.0.0/24" of VPC a: 10.0.2.10 is not an address of a worker in its subnets; name one that is'],
    ],
    [
      'a route over a subnet',
      aVpc('a', { ports: [aPort('w', '10.0.1.10')], routes: [{ cidr: '10.0.0.0/8', via: '10.0.1.10' }] }),
      ['Cannot make route "10.0.0.0/8" of VPC a: it overlaps 10.0.1.0/24 of subnet one; choose another range'],
    ],
    [
      'a route over the platform',
      aVpc('a', { ports: [aPort('w', '10.0.1.10')], routes: [{ cidr: '100.64.0.2/32', via: '10.0.1.10' }] }),
      ['Cannot make route "100.64.0.2/32" of VPC a: it covers addresses of the platform; choose a smaller range'],
    ],
  ];
  it.each(cases)('%s', (_name, vpc, problems) => expect(vpcProblems(vpc, platform)).toEqual(problems));
});

describe('planProblems', () => {
  const tagged = (name: string, index: number, vlan: number): Vpc =>
    aVpc(name, { index, mode: 'VLAN', subnets: [{ name: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1', vlan }] });

  it('allows two tenants the same addresses', () => {
    expect(planProblems({ platform, vpcs: [aVpc('a'), aVpc('b', { index: 2 })] })).toEqual([]);
  });

  it('refuses a VLAN id that another tenant has', () => {
    expect(planProblems({ platform, vpcs: [tagged('a', 1, 7), tagged('b', 2, 8), tagged('c', 3, 7)] })).toEqual([
      'Cannot use VLAN "7" for subnet c/one: subnet a/one has it; choose another id',
    ]);
  });

  it('refuses two VPCs on one pair of transit addresses, and two of one name', () => {
    expect(planProblems({ platform, vpcs: [aVpc('a'), aVpc('b')] })[0]).toContain('Cannot use pair "1" of transit addresses for VPC b');
    expect(planProblems({ platform, vpcs: [aVpc('a'), aVpc('a', { index: 2 })] })[0]).toContain('Cannot make two VPCs "a"');
  });
});
