import { describe, expect, it } from 'vitest';
import type { TenantCluster } from '../../../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Vpc } from '../../../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { balancersOf, externalOf, externalServices } from './external-services.ts';

const front = { cluster: 'dev', namespace: 'web', name: 'front' };
const back = { cluster: 'dev', namespace: 'web', name: 'back' };
const balancer = (service: string, port: number) => ({ service, address: '10.0.1.254', ports: [{ protocol: 'tcp' as const, port }] });
const cluster = {
  metadata: { name: 'dev', namespace: 'acme' },
  spec: {},
  status: {
    network: { vpc: 'acme', subnet: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1', address: '100.64.0.2' },
    loadBalancers: [balancer('web/front', 443), balancer('web/back', 443)],
  },
} as TenantCluster;
const aVpc = (services: object[], address: string | undefined = '198.51.100.7') =>
  ({
    spec: { subnets: [], external: { services } },
    status: address === '' ? {} : { external: { address } },
  }) as unknown as Vpc;

describe('externalServices', () => {
  it('publishes what the VPC names and nothing else', () => {
    expect(externalServices(aVpc([front]), [cluster])).toEqual([{ ...front, state: 'Published', ports: ['443/tcp'] }]);
    expect(balancersOf(aVpc([front]), [cluster]).map(({ name, external }) => [name, external])).toEqual([
      ['dev/web/front', '198.51.100.7'],
      ['dev/web/back', undefined],
    ]);
  });

  it.each([
    ['waits for a Service that is not there', aVpc([{ ...front, name: 'none' }]), [/^Waiting: cluster dev has no load balancer/]],
    ['waits for the address', aVpc([front], ''), [/^Waiting: there is no external address yet/]],
    [
      'gives a port to the first that has it',
      aVpc([front, back]),
      [/^Published/, /^Refused: port 443\/tcp of 198\.51\.100\.7 is that of dev\/web\/front/],
    ],
  ])('%s', (_what, vpc, expected) => {
    const found = externalServices(vpc, [cluster]).map(({ state, message = '' }) => `${state}: ${message}`);
    expect(found).toHaveLength(expected.length);
    found.forEach((text, position) => expect(text).toMatch(expected[position]));
  });

  it('tells a Service where it is reached from outside', () => {
    const vpc = aVpc([front]);
    vpc.status!.external!.services = externalServices(vpc, [cluster]);
    expect([externalOf(vpc, 'dev', 'web/front'), externalOf(vpc, 'dev', 'web/back'), externalOf(undefined, 'dev', 'web/front')]).toEqual([
      '198.51.100.7',
      undefined,
      undefined,
    ]);
  });
});
