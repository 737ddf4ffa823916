import { describe, expect, it } from 'vitest';
import { platformOf } from '../../network/model/vpc.ts';
import { aResident, aVpcObject, aWorker } from '../testing/some-objects.ts';
import { networkPlan } from './network-plan.ts';

const platform = platformOf();

describe('networkPlan', () => {
  it('has the workers, Pods and endpoints of the clusters that live in a VPC', () => {
    const worker = { ...aWorker('dev-a', '10.0.1.10'), podCidrs: ['10.128.3.0/24'] };
    const dev = aResident('acme', 'dev', { endpoint: 'https://100.64.0.2:20000', workers: [worker] });
    dev.status!.network!.listeners = [{ name: 'names', protocol: 'udp', port: 53 }];
    const stage = aResident('acme', 'stage', { endpoint: 'https://10.9.9.9:6443' });
    stage.status!.network!.listeners = [{ name: 'names', protocol: 'udp', port: 53 }];
    const [vpc] = networkPlan([aVpcObject('acme')], [dev, stage, aResident('beta', 'dev')], platform).plan.vpcs;
    expect(vpc).toEqual({
      name: 'acme',
      index: 1,
      mode: 'Overlay',
      subnets: [{ name: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1' }],
      ports: [{ name: 'dev-a', subnet: 'one', address: '10.0.1.10', mac: '02:00:00:00:00:01', attachment: { kind: 'Tap' } }],
      endpoints: [
        { protocol: 'tcp', address: '100.64.0.2', port: 20_000 },
        { protocol: 'udp', address: '100.64.0.2', port: 53 },
        { protocol: 'tcp', address: '10.9.9.9', port: 6443 },
      ],
      services: [],
      routes: [{ cidr: '10.128.3.0/24', via: '10.0.1.10' }],
      peers: [],
      egress: true,
      loadBalancers: [],
    });
  });

  it('has no port for a worker until it is known where it ends', () => {
    const { attachment: _, ...worker } = aWorker('dev-a', '10.0.1.10');
    expect(networkPlan([aVpcObject('acme')], [aResident('acme', 'dev', { workers: [worker] })], platform).plan.vpcs[0].ports).toEqual([]);
  });

  it('lets nobody through to an endpoint that is known by a name only', () => {
    const cluster = aResident('acme', 'dev', { endpoint: 'https://api.acme.example:6443' });
    expect(networkPlan([aVpcObject('acme')], [cluster], platform).plan.vpcs[0].endpoints).toEqual([]);
  });

  it('has no VPC without a number, and none that is deleted and empty', () => {
    const fresh = { ...aVpcObject('fresh'), status: undefined };
    const leaving = aVpcObject('leaving', {}, 2);
    leaving.metadata.deletionTimestamp = '2026-01-02T00:00:00Z';
    const plan = (...residents: ReturnType<typeof aResident>[]) =>
      networkPlan([fresh, leaving], residents, platform).plan.vpcs.map(({ name }) => name);
    expect(plan()).toEqual([]);
    expect(plan(aResident('leaving', 'dev'))).toEqual(['leaving']);
  });

  it('leaves out the younger of two that claim the same, and tells nothing about the other', () => {
    const tagged = { mode: 'VLAN' as const, subnets: [{ name: 'one', cidr: '10.0.1.0/24', vlan: 7 }] };
    const older = aVpcObject('zeta', tagged, 1);
    const younger = aVpcObject('acme', tagged, 2);
    younger.metadata.creationTimestamp = '2026-01-02T00:00:00Z';
    const same = aVpcObject('beta', {}, 1);
    same.metadata.creationTimestamp = '2026-01-03T00:00:00Z';
    const { plan, refused } = networkPlan([same, younger, older], [], platform);
    expect(plan.vpcs.map(({ name }) => name)).toEqual(['zeta']);
    expect([...refused]).toEqual([
      ['acme', 'Cannot use VLAN "7" for subnet "one": it is in use; choose another id'],
      ['beta', 'Cannot make VPC "beta": its pair of transit addresses is in use; delete it and make it again'],
    ]);
  });
});
