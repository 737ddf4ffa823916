import { describe, expect, it } from 'vitest';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { serviceVariables, withApiServer } from './service-variables.ts';

function aService(namespace: string, name: string, clusterIP: string | undefined, ports: Json[]): KubeObject {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec: { clusterIP, ports } };
}

const services = [
  aService('default', 'kubernetes', '10.0.0.1', [{ name: 'https', port: 443, protocol: 'TCP' }]),
  aService('shop', 'foo-bar', '1.2.3.4', [{ port: 8080, protocol: 'TCP' }]),
  aService('shop', 'abc-123', '5.6.7.8', [
    { name: 'u-d-p', port: 8081, protocol: 'UDP' },
    { name: 't', port: 8082, protocol: 'TCP' },
  ]),
  aService('shop', 'v6', 'fd00::1', [{ port: 1 }]),
  aService('shop', 'headless', 'None', [{ port: 1 }]),
  aService('shop', 'external', undefined, []),
  aService('other', 'elsewhere', '9.9.9.9', [{ port: 1 }]),
];

const API = {
  KUBERNETES_SERVICE_HOST: '10.0.0.1',
  KUBERNETES_SERVICE_PORT: '443',
  KUBERNETES_SERVICE_PORT_HTTPS: '443',
  KUBERNETES_PORT: 'tcp://10.0.0.1:443',
  KUBERNETES_PORT_443_TCP: 'tcp://10.0.0.1:443',
  KUBERNETES_PORT_443_TCP_PROTO: 'tcp',
  KUBERNETES_PORT_443_TCP_PORT: '443',
  KUBERNETES_PORT_443_TCP_ADDR: '10.0.0.1',
};

describe('serviceVariables', () => {
  it('names the Services of the namespace that have an address', () => {
    expect(Object.fromEntries(serviceVariables(services, 'shop', true))).toEqual({
      ...API,
      FOO_BAR_SERVICE_HOST: '1.2.3.4',
      FOO_BAR_SERVICE_PORT: '8080',
      FOO_BAR_PORT: 'tcp://1.2.3.4:8080',
      FOO_BAR_PORT_8080_TCP: 'tcp://1.2.3.4:8080',
      FOO_BAR_PORT_8080_TCP_PROTO: 'tcp',
      FOO_BAR_PORT_8080_TCP_PORT: '8080',
      FOO_BAR_PORT_8080_TCP_ADDR: '1.2.3.4',
      ABC_123_SERVICE_HOST: '5.6.7.8',
      ABC_123_SERVICE_PORT: '8081',
      ABC_123_SERVICE_PORT_U_D_P: '8081',
      ABC_123_SERVICE_PORT_T: '8082',
      ABC_123_PORT: 'udp://5.6.7.8:8081',
      ABC_123_PORT_8081_UDP: 'udp://5.6.7.8:8081',
      ABC_123_PORT_8081_UDP_PROTO: 'udp',
      ABC_123_PORT_8081_UDP_PORT: '8081',
      ABC_123_PORT_8081_UDP_ADDR: '5.6.7.8',
      ABC_123_PORT_8082_TCP: 'tcp://5.6.7.8:8082',
      ABC_123_PORT_8082_TCP_PROTO: 'tcp',
      ABC_123_PORT_8082_TCP_PORT: '8082',
      ABC_123_PORT_8082_TCP_ADDR: '5.6.7.8',
      V6_SERVICE_HOST: 'fd00::1',
      V6_SERVICE_PORT: '1',
      V6_PORT: 'tcp://[fd00::1]:1',
      V6_PORT_1_TCP: 'tcp://[fd00::1]:1',
      V6_PORT_1_TCP_PROTO: 'tcp',
      V6_PORT_1_TCP_PORT: '1',
      V6_PORT_1_TCP_ADDR: 'fd00::1',
    });
  });

  it('names the API server only, when links are switched off', () => {
    expect(Object.fromEntries(serviceVariables(services, 'shop', false))).toEqual(API);
    expect(Object.fromEntries(serviceVariables(services, 'default', false))).toEqual(API);
  });
});

describe('withApiServer', () => {
  it('puts the address of the API server in place of its Service, which leads nowhere without rules in the network', () => {
    const variables = serviceVariables(withApiServer(services, { address: '127.0.0.1', port: 6443 }), 'other', true);
    expect(Object.fromEntries(variables)).toMatchObject({
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: '6443',
      KUBERNETES_SERVICE_PORT_HTTPS: '6443',
      KUBERNETES_PORT: 'tcp://127.0.0.1:6443',
      ELSEWHERE_SERVICE_HOST: '9.9.9.9',
    });
  });

  it('leaves the Services alone where theirs are reached', () => {
    expect(withApiServer(services, undefined)).toBe(services);
  });
});
