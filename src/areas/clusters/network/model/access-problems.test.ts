import { describe, expect, it } from 'vitest';
import { aPort, aVpc } from '../testing/some-vpcs.ts';
import { accessProblems } from './access-problems.ts';
import { balancedAddresses } from './balanced.ts';
import { platformOf, type LoadBalancer, type Vpc } from './vpc.ts';

const web: LoadBalancer = {
  name: 'web',
  subnet: 'one',
  address: '10.0.1.20',
  ports: [{ protocol: 'tcp', port: 80, backends: [{ address: '10.0.1.10', port: 30_080 }] }],
  sources: [],
  sticky: false,
};
const vpc = aVpc('a', { ports: [aPort('w', '10.0.1.10')], loadBalancers: [web] });
const problems = (changes: Partial<Vpc>): string[] => accessProblems({ ...vpc, ...changes }, platformOf());
const balancer = (changes: Partial<LoadBalancer>): string[] => problems({ loadBalancers: [{ ...web, ...changes }] });

describe('accessProblems', () => {
  it('has nothing against a load balancer with an address of its own', () => {
    expect(problems({})).toEqual([]);
    expect(balancer({ external: '198.51.100.7', sources: ['10.0.0.0/8'] })).toEqual([]);
  });

  const cases: [what: string, found: string[], expected: RegExp][] = [
    ['an unknown subnet', balancer({ subnet: 'two' }), /there is no subnet two; name one of one/],
    ['an address of another subnet', balancer({ address: '10.0.2.20' }), /10\.0\.2\.20 is not a free address in 10\.0\.1\.0\/24/],
    ['the address of the gateway', balancer({ address: '10.0.1.1' }), /is not a free address/],
    ['the address of a worker', balancer({ address: '10.0.1.10' }), /worker w has it/],
    ['two with one address', problems({ loadBalancers: [web, { ...web, name: 'api' }] }), /load balancer web has it/],
    ['a source that is no range', balancer({ sources: ['everybody'] }), /source "everybody" is not an IPv4 CIDR/],
    [
      'somebody else behind it',
      balancer({ ports: [{ protocol: 'tcp', port: 80, backends: [{ address: '172.30.0.5', port: 6443 }] }] }),
      /172\.30\.0\.5 behind it is not in the VPC/,
    ],
    ['an external address of the transit range', balancer({ external: '100.64.0.2' }), /it is in 100\.64\.0\.0\/16/],
    ['an external address of its own subnet', balancer({ external: '10.0.1.30' }), /it is in 10\.0\.1\.0\/24/],
    [
      'VPN clients with addresses of workers',
      problems({ vpn: { external: '198.51.100.8', port: 51_820, clients: ['10.0.1.128/25'] } }),
      /overlaps 10\.0\.1\.0\/24/,
    ],
  ];
  it.each(cases)('refuses %s', (_what, found, expected) => {
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(expected);
  });
});

describe('balancedAddresses', () => {
  it('names every listener at every address, open to everybody when nobody is named', () => {
    const found = balancedAddresses({ loadBalancers: [{ ...web, external: '198.51.100.7' }] });
    expect(found.map(({ address, isExternal, sources }) => [address, isExternal, sources])).toEqual([
      ['10.0.1.20', false, ['0.0.0.0/0']],
      ['198.51.100.7', true, ['0.0.0.0/0']],
    ]);
  });

  it.each([
    [['10.0.0.0/8', '10.1.0.0/16', '10.0.0.0/8'], ['10.0.0.0/8']],
    [['10.1.0.0/16', '10.0.0.0/8'], ['10.0.0.0/8']],
    [
      ['10.1.0.0/16', '10.2.0.0/16'],
      ['10.1.0.0/16', '10.2.0.0/16'],
    ],
  ])('keeps of the sources %j those that are in no other', (sources, expected) => {
    expect(balancedAddresses({ loadBalancers: [{ ...web, sources }] })[0].sources).toEqual(expected);
  });
});
