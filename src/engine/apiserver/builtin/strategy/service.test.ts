import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../kube/object.ts';
import { ServiceAllocator } from '../service-allocator.ts';
import { testingKinds } from '../testing-kinds.ts';

const { find, created, updated } = testingKinds({ services: new ServiceAllocator({ random: () => 0 }) });
const services = find('services');

function service(spec: Json): Json {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x' }, spec: { ports: [{ port: 80 }], ...spec } };
}

describe('a new Service', () => {
  test('gets an address', () => {
    expect(created(services, service({}))['spec']).toMatchObject({
      clusterIP: '10.0.0.17',
      clusterIPs: ['10.0.0.17'],
      ipFamilies: ['IPv4'],
    });
  });

  test('gets no address when it wants none', () => {
    expect(created(services, service({ clusterIP: 'None' }))['spec']).toMatchObject({ clusterIPs: ['None'] });
    expect(created(services, service({ type: 'ExternalName', externalName: 'a' }))['spec']).not.toHaveProperty('clusterIP');
  });

  test('gets one node port for a port of two protocols', () => {
    const ports = [
      { port: 53, name: 'a', protocol: 'UDP' },
      { port: 53, name: 'b' },
    ];
    const { spec } = created(services, service({ type: 'NodePort', ports }));
    expect(spec.ports[0].nodePort).toBe(spec.ports[1].nodePort);
  });

  const refusals: [name: string, spec: Json, message: string][] = [
    [
      'an address outside the range',
      { clusterIP: '10.9.0.1' },
      'spec.clusterIPs: Invalid value: ["10.9.0.1"]: failed to allocate IP 10.9.0.1: the provided IP (10.9.0.1) is not in the valid range. The range of valid IPs is 10.0.0.0/24',
    ],
    [
      'a node port outside the range',
      { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] },
      'spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    ],
    [
      'two address families',
      { ipFamilyPolicy: 'RequireDualStack' },
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    ],
  ];
  test.each(refusals)('is refused with %s', (_name, spec, message) => {
    expect(() => created(services, service(spec))).toThrow(`Service "x" is invalid: ${message}`);
  });

  test('is refused an address that another has', () => {
    const { spec } = created(services, service({}));
    expect(() => created(services, service({ clusterIP: spec.clusterIP }))).toThrow('provided IP is already allocated');
  });
});

describe('a changed Service', () => {
  test('keeps its address and ports when the client does not know them', () => {
    const old = created(services, service({ type: 'NodePort' }));
    const { spec } = updated(services, service({ type: 'NodePort' }), old);
    expect([spec.clusterIP, spec.ports[0].nodePort]).toEqual([old['spec'].clusterIP, old['spec'].ports[0].nodePort]);
  });

  test('loses its node ports with its type', () => {
    const old = created(services, service({ type: 'NodePort' }));
    const { spec } = updated(services, { ...old, spec: { ...old['spec'], type: 'ClusterIP' } }, old);
    expect(spec.ports[0]).not.toHaveProperty('nodePort');
    expect(spec).not.toHaveProperty('externalTrafficPolicy');
  });

  test('loses its address when it becomes a name', () => {
    const old = created(services, service({}));
    const { spec } = updated(services, { ...old, spec: { ...old['spec'], type: 'ExternalName', externalName: 'a' } }, old);
    expect(spec).not.toHaveProperty('clusterIP');
    expect(spec).not.toHaveProperty('ipFamilies');
  });

  test('gets node ports with its type', () => {
    const old = created(services, service({}));
    const { spec } = updated(services, service({ type: 'LoadBalancer' }), old);
    expect(spec.ports[0].nodePort).toBeGreaterThanOrEqual(30_000);
    expect(spec.clusterIP).toBe(old['spec'].clusterIP);
  });
});
