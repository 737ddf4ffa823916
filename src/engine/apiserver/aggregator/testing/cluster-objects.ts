import type { Json, KubeObject } from '../../../../kube/object.ts';
import { TEST_CA } from '../../admission/testing/certificates.ts';

export function anApiService(spec: Json = {}, status: Json = {}): KubeObject {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1beta1.metrics.k8s.io' },
    spec: {
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      caBundle: Buffer.from(TEST_CA).toString('base64'),
      service: { namespace: 'system', name: 'metrics', port: 443 },
      ...spec,
    },
    status,
  };
}

export function aService(spec: Json = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'metrics', namespace: 'system' },
    spec: { type: 'ClusterIP', clusterIP: '10.0.0.7', ports: [{ name: 'https', port: 443, targetPort: 8443 }], ...spec },
  };
}

export function aSlice(port: number, addresses: string[] = ['127.0.0.1'], ready?: boolean): KubeObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'metrics-1', namespace: 'system', labels: { 'kubernetes.io/service-name': 'metrics' } },
    addressType: 'IPv4',
    ports: [{ name: 'https', port }],
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: ready === undefined ? {} : { ready } })),
  };
}

export const SERVICES = { group: '', resource: 'services' };
export const SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices' };
