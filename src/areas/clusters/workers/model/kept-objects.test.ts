import { expect, it } from 'vitest';
import { EXCLUDED, keptNode, keptRequest, type NodeObject, type RequestObject } from './kept-objects.ts';

const LONG = 'x'.repeat(100_000);
const METADATA = { name: 'n', uid: 'u', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' };

function aRequest(spec: Partial<RequestObject['spec']> = {}, status?: RequestObject['status']): RequestObject {
  const kept = { request: 'cGVt', signerName: 'kubernetes.io/kubelet-serving', username: 'system:node:w1', groups: ['g'], usages: ['u'] };
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: METADATA,
    spec: { ...kept, ...spec },
    status,
  } as RequestObject;
}

it('of a Node its readiness, its boot and whether it is to be used are kept', () => {
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { ...METADATA, annotations: { a: LONG }, labels: { [EXCLUDED]: LONG, b: LONG } },
    spec: { unschedulable: true, providerID: LONG },
    status: {
      conditions: [
        { type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:00:00Z', message: LONG },
        { type: 'Other', status: LONG },
      ],
      nodeInfo: { bootID: 'boot', machineID: LONG },
      images: [{ names: [LONG] }],
    },
  } as unknown as NodeObject;
  expect(keptNode(node)).toEqual({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { ...METADATA, labels: { [EXCLUDED]: '' } },
    spec: { unschedulable: true },
    status: {
      conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:00:00Z' }],
      nodeInfo: { bootID: 'boot' },
    },
  });
});

it('a Node that says null of its heartbeat is as good as one that says nothing', () => {
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: null }];
  const kept = keptNode({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' }, status: { conditions } } as never);
  expect(kept.status?.conditions).toEqual([{ type: 'Ready', status: 'True', lastHeartbeatTime: undefined }]);
});

it('nothing that a Node says is kept at any length', () => {
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: METADATA,
    status: { conditions: [{ type: 'Ready', status: LONG, lastHeartbeatTime: LONG }], nodeInfo: { bootID: LONG } },
  } as unknown as NodeObject;
  expect(JSON.stringify(keptNode(node)).length).toBeLessThan(500);
});

it('of a request for a certificate what it is judged by is kept', () => {
  const { metadata, spec } = aRequest({ extra: { a: [LONG] } });
  const kept = keptRequest({ ...aRequest(), metadata: { ...metadata, annotations: { a: LONG } }, spec })!;
  expect(kept).toEqual(aRequest());
});

it.each<[string, RequestObject]>([
  ['that was approved', aRequest({}, { conditions: [{ type: 'Approved', status: 'True' }] })],
  ['that was fulfilled', aRequest({}, { certificate: 'cGVt' })],
  ['that is longer than any of a node', aRequest({ request: LONG })],
  ['with more groups than anybody has', aRequest({ groups: Array.from({ length: 10_000 }, () => 'g') })],
])('a request %s is not kept', (_name, request) => {
  expect(keptRequest(request)).toBeUndefined();
});
