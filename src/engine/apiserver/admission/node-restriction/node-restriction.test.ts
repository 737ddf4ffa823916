import { expect, it } from 'vitest';
import type { GroupResource, Json, KubeObject } from '../../../../kube/object.ts';
import { generateKeys } from '../../../../lib/pki/key-files.ts';
import { createCertificateRequest, parseCertificateRequest } from '../../../../lib/pki/certificate-request.ts';
import type { ObjectReader } from '../../registry/objects.ts';
import type { AdmissionRequest } from '../admission.ts';
import { nodeRestriction } from './node-restriction.ts';

const audience = { projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } };
const PODS: KubeObject[] = [
  { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'mine', namespace: 'web', uid: 'u1' }, spec: { nodeName: 'w1', volumes: [audience] } },
  { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'other', namespace: 'web', uid: 'u2' }, spec: { nodeName: 'w2' } },
];
const NODE: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'w1', uid: 'n1' } };
const reader: ObjectReader = {
  get: <T extends KubeObject>({ resource }: GroupResource, _namespace: string, name: string) =>
    [...(resource === 'pods' ? PODS : [NODE])].find(({ metadata }) => metadata.name === name) as T | undefined,
  list: () => [],
  onChange: () => () => {},
};
const plugin = nodeRestriction({
  reader,
  authorizer: { authorize: () => ({ allowed: false, reason: '' }), rulesFor: () => [] },
  commonNameOf: (pem) => parseCertificateRequest(pem).subject.commonName,
});

function asked(operation: AdmissionRequest['operation'], what: string, more: Partial<AdmissionRequest>): AdmissionRequest {
  const [group, resource, subresource = ''] = what.split('/');
  return {
    operation,
    resource: { group, version: 'v1', resource },
    kind: { group, version: 'v1', kind: 'X' },
    subresource,
    namespace: '',
    name: '',
    user: { name: 'system:node:w1', groups: ['system:nodes', 'system:authenticated'] },
    options: {},
    dryRun: false,
    warn: () => {},
    annotate: () => {},
    signal: new AbortController().signal,
    ...more,
  };
}

const node = (changes: { labels?: Record<string, string>; spec?: Json; name?: string } = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: changes.name ?? 'w1', labels: changes.labels },
  spec: changes.spec ?? {},
});
const token = (name: string, uid: string, audiences: string[] = []): KubeObject => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenRequest',
  metadata: {},
  spec: { audiences, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid } },
});
const csr = (of: string): KubeObject => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'csr' },
  spec: {
    signerName: 'kubernetes.io/kubelet-serving',
    request: Buffer.from(createCertificateRequest({ commonName: of, organizations: ['system:nodes'] }, generateKeys())).toString('base64'),
  },
});
const [mine, other] = PODS;
const mirror: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'static',
    annotations: { 'kubernetes.io/config.mirror': 'x' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'w1', uid: 'n1', controller: true }],
  },
  spec: { nodeName: 'w1', containers: [] },
};
const lease: KubeObject = { apiVersion: 'v1', kind: 'Lease', metadata: { name: 'w1' } };

it.each<[string, AdmissionRequest]>([
  ['makes itself', asked('CREATE', '/nodes', { object: node({ labels: { 'kubernetes.io/hostname': 'w1', mine: 'x' } }) })],
  ['writes its status', asked('UPDATE', '/nodes/status', { name: 'w1', object: node(), oldObject: node() })],
  ['writes the status of its Pod', asked('UPDATE', '/pods/status', { name: 'mine', object: mine, oldObject: mine })],
  ['deletes its Pod', asked('DELETE', '/pods', { namespace: 'web', name: 'mine' })],
  ['makes the mirror of a Pod', asked('CREATE', '/pods', { object: mirror })],
  ['gets a token for its Pod', asked('CREATE', '/serviceaccounts/token', { namespace: 'web', object: token('mine', 'u1') })],
  [
    'gets a token for whoever the API server is',
    asked('CREATE', '/serviceaccounts/token', {
      namespace: 'web',
      object: { ...token('mine', 'u1'), spec: { ...token('mine', 'u1').spec, audiences: null } },
    }),
  ],
  ['keeps its lease', asked('CREATE', 'coordination.k8s.io/leases', { namespace: 'kube-node-lease', object: lease })],
  ['asks for its certificate', asked('CREATE', 'certificates.k8s.io/certificatesigningrequests', { object: csr('system:node:w1') })],
])('a node %s', (_name, request) => {
  expect(() => plugin.validate!(request)).not.toThrow();
});

it.each<[string, AdmissionRequest, string]>([
  [
    'makes another',
    asked('CREATE', '/nodes', { object: node({ name: 'w2' }) }),
    'nodes "w2" is forbidden: node "w1" is not allowed to modify node "w2"',
  ],
  [
    'draws Pods by labels',
    asked('CREATE', '/nodes', { object: node({ labels: { 'node-restriction.kubernetes.io/x': '1', 'node-role.kubernetes.io/y': '' } }) }),
    'node "w1" is not allowed to set the following labels: node-restriction.kubernetes.io/x, node-role.kubernetes.io/y',
  ],
  [
    'changes labels',
    asked('UPDATE', '/nodes', { name: 'w1', object: node(), oldObject: node({ labels: { 'node-role.kubernetes.io/y': '' } }) }),
    'is not allowed to modify labels: node-role.kubernetes.io/y',
  ],
  [
    'takes its taints away',
    asked('UPDATE', '/nodes', { name: 'w1', object: node(), oldObject: node({ spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }) }),
    'node "w1" is not allowed to modify taints',
  ],
  [
    'writes the status of a Pod of another',
    asked('UPDATE', '/pods/status', { name: 'other', object: other, oldObject: other }),
    'node "w1" can only update pod status for pods with spec.nodeName set to itself',
  ],
  [
    'changes labels of its Pod',
    asked('UPDATE', '/pods/status', {
      name: 'mine',
      object: { ...mine, metadata: { ...mine.metadata, labels: { a: 'b' } } },
      oldObject: mine,
    }),
    'node "w1" cannot update labels through pod status',
  ],
  [
    'deletes a Pod of another',
    asked('DELETE', '/pods', { namespace: 'web', name: 'other' }),
    'node "w1" can only delete pods with spec.nodeName set to itself',
  ],
  [
    'makes a Pod',
    asked('CREATE', '/pods', { object: { ...mirror, metadata: { name: 'x' } } }),
    'pod does not have "kubernetes.io/config.mirror" annotation, node "w1" can only create mirror pods',
  ],
  [
    'makes a mirror that reads Secrets',
    asked('CREATE', '/pods', { object: { ...mirror, spec: { nodeName: 'w1', imagePullSecrets: [{ name: 'x' }] } } }),
    'node "w1" can not create pods that reference secrets',
  ],
  [
    'gets a token for a Pod of another',
    asked('CREATE', '/serviceaccounts/token', { namespace: 'web', object: token('other', 'u2') }),
    'node requested token bound to a pod scheduled on a different node',
  ],
  [
    'gets a token for another audience',
    asked('CREATE', '/serviceaccounts/token', { namespace: 'web', name: 'default', object: token('mine', 'u1', ['vault']) }),
    'audience "vault" not found in pod spec volume, system:node:w1 is not authorized to request tokens for this audience',
  ],
  [
    'gets a token for no Pod',
    asked('CREATE', '/serviceaccounts/token', { namespace: 'web', object: { ...token('mine', 'u1'), spec: {} } }),
    'node requested token not bound to a pod',
  ],
  [
    'takes the lease of another',
    asked('UPDATE', 'coordination.k8s.io/leases', { namespace: 'kube-node-lease', name: 'w2' }),
    'can only access node lease with the same name as the requesting node',
  ],
  [
    'asks for the certificate of another',
    asked('CREATE', 'certificates.k8s.io/certificatesigningrequests', { object: csr('system:node:w2') }),
    'can only create a node CSR with CN=system:node:w1',
  ],
  [
    'changes a claim',
    asked('UPDATE', '/persistentvolumeclaims', { name: 'data', object: node(), oldObject: node() }),
    'may only update PVC status',
  ],
])('a node that %s is refused', (_name, request, message) => {
  expect(() => plugin.validate!(request)).toThrow(message);
});

it('others are not judged', () => {
  expect(plugin.handles(asked('CREATE', '/nodes', { user: { name: 'admin', groups: [] } }))).toBe(false);
});
