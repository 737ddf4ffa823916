import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../support/embedded-target.ts';
import { startMetricsApis } from './hpa-metrics.ts';
import { clusterOf, startProcessNode, type ProcessNode } from '../node/node-of-processes.ts';

// The resource metrics API over the wire, on what a node's own server says.
const GROUP = '/apis/metrics.k8s.io/v1beta1';
const WAIT = { timeout: 10_000, interval: 50 };
let target: EmbeddedTarget;
let node: ProcessNode;

beforeAll(async () => {
  target = await startEmbeddedTarget();
  const { body } = await target.request('GET', '/apis');
  expect(body.groups.map(({ name }: { name: string }) => name)).not.toContain('metrics.k8s.io');
  expect((await target.request('GET', `${GROUP}/nodes`)).status).toBe(404);
  node = await startProcessNode(clusterOf(target));
});
afterAll(async () => {
  await node.close();
  await target.close();
});

test('with the first node the group is there', async () => {
  await vi.waitFor(async () => {
    const { body } = await target.request('GET', GROUP);
    expect(body).toMatchObject({ kind: 'APIResourceList', resources: [{ name: 'nodes' }, { name: 'pods' }] });
    const apiService = await target.request('GET', '/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io');
    expect(apiService.body.status?.conditions).toMatchObject([{ type: 'Available', status: 'True', reason: 'Local' }]);
  }, WAIT);
  const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const { body } = await target.request('GET', '/apis', undefined, { headers: { accept: aggregated } });
  const found = body.items.find((item: { metadata: { name: string } }) => item.metadata.name === 'metrics.k8s.io');
  expect(found.versions[0].resources).toMatchObject([{ resource: 'nodes' }, { resource: 'pods', scope: 'Namespaced' }]);
});

test('nodes and Pods are told with what their node measured', async () => {
  const nodes = await target.request('GET', `${GROUP}/nodes`);
  expect(nodes.body.items).toMatchObject([{ metadata: { name: 'here' }, usage: { cpu: '500m', memory: '1k' } }]);
  const pods = await target.request('GET', `${GROUP}/namespaces/default/pods`);
  expect(pods.body.items).toMatchObject([
    { metadata: { name: 'web' }, containers: [{ name: 'main', usage: { cpu: '1m', memory: '10' } }] },
  ]);
});

test('who may view a namespace may see what it uses', async () => {
  await vi.waitFor(async () => {
    const { body } = await target.request('GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles/view');
    expect(body.rules).toContainEqual({ apiGroups: ['metrics.k8s.io'], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] });
  }, WAIT);
  const headers = { 'Impersonate-User': 'jane' };
  const path = `${GROUP}/namespaces/default/pods`;
  expect((await target.request('GET', path, undefined, { headers })).status).toBe(403);
  await target.request('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings', {
    metadata: { name: 'jane' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
  });
  await vi.waitFor(async () => expect((await target.request('GET', path, undefined, { headers })).status).toBe(200), WAIT);
});

test('who installs a metrics server takes the API over, and gives it back by removing it', async () => {
  const theirs = await startMetricsApis();
  try {
    theirs.usage.set('default/web', { main: { cpu: '7', memory: '1Gi' } });
    const service = { type: 'ExternalName', externalName: 'localhost', ports: [{ port: theirs.port }] };
    await target.request('POST', '/api/v1/namespaces/kube-system/services', { metadata: { name: 'metrics-server' }, spec: service });
    const reference = { namespace: 'kube-system', name: 'metrics-server', port: theirs.port };
    await target.request(
      'PATCH',
      '/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io',
      { spec: { service: reference, insecureSkipTLSVerify: true } },
      { contentType: 'application/merge-patch+json' },
    );
    const cpu = async () => (await target.request('GET', `${GROUP}/namespaces/default/pods`)).body.items?.[0]?.containers[0].usage.cpu;
    await vi.waitFor(async () => expect(await cpu()).toBe('7'), WAIT);
    expect(theirs.seen.some(({ user }) => user === 'kubernetes-admin')).toBe(true);
    await target.request('DELETE', '/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io');
    await vi.waitFor(async () => expect(await cpu()).toBe('1m'), WAIT);
  } finally {
    await theirs.close();
  }
});

test('a node that has gone is missing, with a warning that says so', async () => {
  await node.close();
  await vi.waitFor(async () => {
    const { body, headers } = await target.request('GET', `${GROUP}/nodes`);
    expect(body.items).toEqual([]);
    expect(headers.warning).toContain('metrics of node \\"here\\" are missing: dial tcp 127.0.0.1:');
  }, WAIT);
  await target.request('DELETE', '/api/v1/nodes/here');
  await vi.waitFor(async () => expect((await target.request('GET', GROUP)).status).toBe(404), WAIT);
});
