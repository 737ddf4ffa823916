import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import { ObjectsInMemory } from '../admission/testing/objects-in-memory.ts';
import { resolveService } from './service-address.ts';
import { aService, aSlice, SERVICES, SLICES } from './testing/cluster-objects.ts';

const ENDPOINTS = { group: '', resource: 'endpoints' };

function resolved(service?: KubeObject, slice?: KubeObject, endpoints?: KubeObject): string {
  const objects = new ObjectsInMemory();
  if (service) objects.put(SERVICES, service);
  if (slice) objects.put(SLICES, slice);
  if (endpoints) objects.put(ENDPOINTS, endpoints);
  try {
    const { host, port } = resolveService(objects, { namespace: 'system', name: 'metrics', port: 443 }, () => 0.5);
    return `${host}:${port}`;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('resolveService', () => {
  const endpoints: KubeObject = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'metrics', namespace: 'system' },
    subsets: [{ addresses: [{ ip: '127.0.0.9' }], ports: [{ name: 'https', port: 9443 }] }],
  };

  it.each([
    ['an endpoint of a slice', resolved(aService(), aSlice(8443, ['127.0.0.1', '127.0.0.2'])), '127.0.0.2:8443'],
    ['Endpoints where there are no slices', resolved(aService(), undefined, endpoints), '127.0.0.9:9443'],
    ['the external name', resolved(aService({ type: 'ExternalName', externalName: 'localhost' })), 'localhost:443'],
    ['nothing without the service', resolved(), 'service "metrics" not found'],
    ['nothing without the port', resolved(aService({ ports: [{ port: 80 }] })), 'no service port 443 found for service "metrics"'],
    ['nothing without endpoints', resolved(aService()), 'no endpoints available for service "metrics"'],
    [
      'nothing when none is ready',
      resolved(aService(), aSlice(8443, ['127.0.0.1'], false)),
      'no endpoints available for service "metrics"',
    ],
  ])('finds %s', (_name, actual, expected) => {
    expect(actual).toBe(expected);
  });
});
