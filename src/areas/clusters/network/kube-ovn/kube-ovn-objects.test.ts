import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { platformOf, type Vpc } from '../model/vpc.ts';
import { aPort, aVpc } from '../testing/some-vpcs.ts';
import { kubeOvnObjects, portAnnotations, type KubeOvnOptions } from './kube-ovn-objects.ts';

const platform = platformOf();
const options: KubeOvnOptions = { namespaceOf: (vpc) => `${vpc}--sys`, externalSubnet: 'ovn-vpc-external-network' };
const objects = (...vpcs: Vpc[]): KubeObject[] => kubeOvnObjects({ platform, vpcs }, options);
const specs = (all: KubeObject[], kind: string): Record<string, any>[] =>
  all.filter((object) => object.kind === kind).map((object) => object['spec'] as Record<string, any>);

describe('kubeOvnObjects', () => {
  it('makes a Vpc, a Subnet, an attachment and the way to the world', () => {
    const all = objects(aVpc('acme'));
    expect(all.map(({ kind, metadata }) => [kind, metadata.namespace ?? '', metadata.name])).toEqual([
      ['Vpc', '', 'tenantry-acme'],
      ['Subnet', '', 'tenantry-acme--one'],
      ['NetworkAttachmentDefinition', 'acme--sys', 'tenantry-acme--one'],
      ['OvnEip', '', 'tenantry-acme'],
      ['OvnSnatRule', '', 'tenantry-acme--one'],
    ]);
    expect(specs(all, 'Subnet')[0]).toEqual({
      vpc: 'tenantry-acme',
      protocol: 'IPv4',
      cidrBlock: '10.0.1.0/24',
      gateway: '10.0.1.1',
      excludeIps: ['10.0.1.1..10.0.1.9'],
      provider: 'tenantry-acme--one.acme--sys.ovn',
      natOutgoing: false,
      private: false,
    });
    expect(JSON.parse(specs(all, 'NetworkAttachmentDefinition')[0]['config']).provider).toBe('tenantry-acme--one.acme--sys.ovn');
  });

  it('lets the endpoint through above the drop of the platform', () => {
    const [{ policyRoutes, enableExternal }] = specs(
      objects(aVpc('acme', { endpoints: [{ address: '100.64.0.2', protocol: 'tcp', port: 6443 }] })),
      'Vpc',
    );
    expect(enableExternal).toBe(true);
    expect(policyRoutes.map(({ priority, action }: any) => [priority, action])).toEqual([
      [31_000, 'allow'],
      [30_500, 'allow'],
      [30_000, 'drop'],
    ]);
    expect(policyRoutes[0].match).toBe('ip4.src == {10.0.1.0/24} && ip4.dst == 100.64.0.2 && tcp.dst == 6443');
    expect(policyRoutes[2].match).toContain('192.168.0.0/16');
  });

  it('balances each port of a load balancer over its workers, and none that has no workers', () => {
    const backends = ['10.0.1.10', '10.0.1.11'].map((address) => ({ address, port: 30_080 }));
    const ports = [
      { protocol: 'tcp' as const, port: 80, backends },
      { protocol: 'tcp' as const, port: 81, backends: [] },
    ];
    const web = { name: 'web', subnet: 'one', address: '10.0.1.20', ports, sources: [], sticky: true };
    expect(specs(objects(aVpc('acme', { loadBalancers: [web] })), 'SwitchLBRule')).toEqual([
      {
        vip: '10.0.1.20',
        namespace: 'acme--sys',
        endpoints: ['10.0.1.10', '10.0.1.11'],
        sessionAffinity: 'ClientIP',
        ports: [{ name: 'tcp-80', port: 80, targetPort: 30_080, protocol: 'TCP' }],
      },
    ]);
  });

  it('has no way to the world without egress', () => {
    const all = objects(aVpc('acme', { egress: false }));
    expect(all.map(({ kind }) => kind)).not.toContain('OvnEip');
    expect(specs(all, 'Vpc')[0]['policyRoutes'].at(-1)).toEqual({ priority: 29_000, match: 'ip4.src == {10.0.1.0/24}', action: 'drop' });
  });

  it('peers both sides over one link, and only when both agree', () => {
    const other = aVpc('b', { index: 2, subnets: [{ name: 'one', cidr: '10.0.2.0/24', gateway: '10.0.2.1' }], peers: ['a'] });
    const [a, b] = specs(objects(aVpc('a', { peers: ['b'] }), other), 'Vpc');
    expect(a['vpcPeerings']).toEqual([{ remoteVpc: 'tenantry-b', localConnectIP: '100.65.0.9/30' }]);
    expect(b['vpcPeerings']).toEqual([{ remoteVpc: 'tenantry-a', localConnectIP: '100.65.0.10/30' }]);
    expect(a['staticRoutes']).toMatchObject([{ cidr: '10.0.2.0/24', nextHopIP: '100.65.0.10' }]);
    expect(b['staticRoutes']).toMatchObject([{ cidr: '10.0.1.0/24', nextHopIP: '100.65.0.9' }]);
    const [alone] = specs(objects(aVpc('a'), other), 'Vpc');
    expect([alone['vpcPeerings'], alone['staticRoutes']]).toEqual([[], []]);
  });

  it('makes a Vlan for a tagged segment, and refuses without a network for it', () => {
    const tagged = aVpc('acme', { mode: 'VLAN', subnets: [{ name: 'one', cidr: '10.0.1.0/24', gateway: '10.0.1.1', vlan: 7 }] });
    const all = kubeOvnObjects({ platform, vpcs: [tagged] }, { ...options, providerNetwork: 'net1' });
    expect(specs(all, 'Vlan')).toEqual([{ id: 7, provider: 'net1' }]);
    expect(specs(all, 'Subnet')[0]).toMatchObject({ vlan: 'tenantry-acme--one', logicalGateway: true });
    expect(() => objects(tagged)).toThrow('no ProviderNetwork is named');
  });

  it('gives all objects names that a cluster takes, and different ones', () => {
    const subnets = ['one', 'two'].map((name, position) => ({
      name: `${name}-${'x'.repeat(50)}`,
      cidr: `10.0.${position}.0/24`,
      gateway: `10.0.${position}.1`,
    }));
    const names = objects(aVpc('a'.repeat(60), { subnets }))
      .filter(({ kind }) => kind === 'Subnet')
      .map(({ metadata }) => metadata.name!);
    expect(names.every((name) => name.length <= 63)).toBe(true);
    expect(new Set(names).size).toBe(2);
  });

  it('binds the Pod of a machine to its port', () => {
    const port = aPort('w', '10.0.1.10');
    expect(portAnnotations(aVpc('acme', { ports: [port] }), port, options)).toEqual({
      'tenantry-acme--one.acme--sys.ovn.kubernetes.io/logical_switch': 'tenantry-acme--one',
      'tenantry-acme--one.acme--sys.ovn.kubernetes.io/ip_address': '10.0.1.10',
      'tenantry-acme--one.acme--sys.ovn.kubernetes.io/mac_address': port.mac,
      'tenantry-acme--one.acme--sys.ovn.kubernetes.io/port_security': 'true',
    });
  });
});
