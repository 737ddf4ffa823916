import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Json } from '../../src/kube/object.ts';
import { createCertificateRequest } from '../../src/lib/pki/certificate-request.ts';
import { generateKeys } from '../../src/lib/pki/key-files.ts';
import { connectTarget, type Answer, type ApiTarget } from '../support/api-target.ts';
import { startEmbeddedTarget } from '../support/embedded-target.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';

/** What a node may, in the same words as a real kube-apiserver with the Node authorizer and NodeRestriction. */
const NODE = { 'Impersonate-User': 'system:node:w1', 'Impersonate-Group': 'system:nodes' };
const POD = (name: string, node: string, secret: string): Json => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    nodeName: node,
    automountServiceAccountToken: false,
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'v', secret: { secretName: secret } }],
  },
});
const csr = (of: string): Json => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: `csr-${of}` },
  spec: {
    signerName: 'kubernetes.io/kubelet-serving',
    usages: ['digital signature', 'server auth'],
    request: Buffer.from(
      createCertificateRequest({ commonName: `system:node:${of}`, organizations: ['system:nodes'] }, KEYS, { dnsNames: [of] }),
    ).toString('base64'),
  },
});
const KEYS = generateKeys();
const node = (name: string, labels?: Json): Json => ({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
const lease = (name: string): Json => ({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec: {} });
const token = (audiences: string[] = []): Json => ({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences } });
const CORE = '/api/v1/namespaces/default';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const MERGE = 'application/merge-patch+json';

const REQUESTS: [string, string, string, Json?, string?][] = [
  ['read a Secret of its Pod', 'GET', `${CORE}/secrets/mine`],
  ['watch a Secret of its Pod', 'GET', `${CORE}/secrets?fieldSelector=metadata.name%3Dmine`],
  ['read a Secret of another Pod', 'GET', `${CORE}/secrets/other`],
  ['list Secrets', 'GET', `${CORE}/secrets`],
  ['list all Secrets', 'GET', '/api/v1/secrets'],
  ['write a Secret', 'PATCH', `${CORE}/secrets/mine`, { data: {} }, MERGE],
  ['read a ConfigMap of nobody', 'GET', `${CORE}/configmaps/kube-root-ca.crt`],
  ['list claims', 'GET', `${CORE}/persistentvolumeclaims`],
  ['read itself', 'GET', '/api/v1/nodes/w1'],
  ['read another node', 'GET', '/api/v1/nodes/w2'],
  ['list nodes', 'GET', '/api/v1/nodes'],
  ['make another node', 'POST', '/api/v1/nodes', node('w3')],
  ['label itself', 'PATCH', '/api/v1/nodes/w1', { metadata: { labels: { 'node-role.kubernetes.io/x': '' } } }, MERGE],
  ['label itself as a kubelet may', 'PATCH', '/api/v1/nodes/w1', { metadata: { labels: { 'kubernetes.io/os': 'linux' } } }, MERGE],
  ['taint itself', 'PATCH', '/api/v1/nodes/w1', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }, MERGE],
  ['delete itself', 'DELETE', '/api/v1/nodes/w1'],
  ['list its Pods', 'GET', '/api/v1/pods?fieldSelector=spec.nodeName%3Dw1'],
  ['list all Pods', 'GET', '/api/v1/pods'],
  ['read its Pod', 'GET', `${CORE}/pods/mine`],
  ['read a Pod of another', 'GET', `${CORE}/pods/other`],
  ['write the status of its Pod', 'PATCH', `${CORE}/pods/mine/status`, { status: { message: 'x' } }, MERGE],
  ['write the status of a Pod of another', 'PATCH', `${CORE}/pods/other/status`, { status: { message: 'x' } }, MERGE],
  ['relabel its Pod', 'PATCH', `${CORE}/pods/mine/status`, { metadata: { labels: { a: 'b' } } }, MERGE],
  ['delete a Pod of another', 'DELETE', `${CORE}/pods/other`],
  ['make a Pod', 'POST', `${CORE}/pods`, POD('new', 'w1', 'other')],
  ['keep its lease', 'POST', LEASES, lease('w1')],
  ['keep the lease of another', 'POST', LEASES, lease('w2')],
  ['read the lease of another', 'GET', `${LEASES}/w2`],
  ['get a token for an account that no Pod has', 'POST', `${CORE}/serviceaccounts/nobody/token`, token()],
  ['get a token without a Pod', 'POST', `${CORE}/serviceaccounts/default/token`, token()],
  ['ask for its certificate', 'POST', '/apis/certificates.k8s.io/v1/certificatesigningrequests', csr('w1')],
  ['ask for the certificate of another', 'POST', '/apis/certificates.k8s.io/v1/certificatesigningrequests', csr('w2')],
  ['read roles', 'GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles'],
  ['run a command', 'POST', `${CORE}/pods/mine/exec?command=x`],
];

let plane: ControlPlane;
let targets: ApiTarget[];

async function prepare(target: ApiTarget): Promise<void> {
  const post = async (path: string, body: Json) => {
    const { status } = await target.request('POST', path, body);
    if (status !== 201 && status !== 409) throw new Error(`${target.name}: POST ${path} ended with ${status}`);
  };
  // What nodes of ours need besides, a kubelet does not.
  await target.request('DELETE', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/tenantry:node');
  for (const name of ['w1', 'w2']) await post('/api/v1/nodes', node(name));
  await post(`${CORE}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } });
  for (const name of ['mine', 'other']) await post(`${CORE}/secrets`, { apiVersion: 'v1', kind: 'Secret', metadata: { name } });
  await post(`${CORE}/pods`, POD('mine', 'w1', 'mine'));
  await post(`${CORE}/pods`, POD('other', 'w2', 'other'));
}

beforeAll(async () => {
  plane = await startControlPlane({ flags: ['--authorization-mode=Node', '--enable-admission-plugins=NodeRestriction'] });
  const { url, kubeconfig, ca, adminToken } = plane;
  const real = connectTarget({ name: 'kubernetes', url, kubeconfig, ca, token: adminToken, close: () => plane.stop() });
  targets = [await startEmbeddedTarget(), real];
  await Promise.all(targets.map(prepare));
  // The graph of the real one follows what was made.
  const readsOwn = async () => (await real.request('GET', `${CORE}/secrets/mine`, undefined, { headers: NODE })).status === 200;
  await vi.waitUntil(readsOwn, { timeout: 30_000, interval: 100 });
}, 300_000);
afterAll(async () => {
  for (const target of targets ?? []) await target.close();
});

describe('what happens to a node that wants to', () => {
  it.each(REQUESTS)('%s', async (_what, method, path, body, contentType) => {
    const [ours, theirs] = await Promise.all(targets.map((target) => target.request(method, path, body, { contentType, headers: NODE })));
    const said = ({ status, body: answer }: Answer) => ({ status, message: status >= 400 ? answer.message : undefined });
    expect(said(ours)).toEqual(said(theirs));
  });
});
