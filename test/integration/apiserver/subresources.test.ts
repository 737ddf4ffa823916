import { expect, it } from 'vitest';
import { startServerInMemory } from './server-in-memory.ts';

const PODS = '/api/v1/namespaces/default/pods';

it('a binding, sets the node and says that the Pod is scheduled, without a new generation', async () => {
  const server = await startServerInMemory();
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'default' } };
  await server.server.objects.create({ group: '', resource: 'serviceaccounts' }, account);
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  expect((await server.call('POST', PODS, pod)).status).toBe(201);
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n1' } };
  expect((await server.call('POST', `${PODS}/p/binding`, binding)).status).toBe(201);
  const { body } = await server.call('GET', `${PODS}/p`);
  expect(body).toMatchObject({
    metadata: { generation: 1 },
    spec: { nodeName: 'n1' },
    status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] },
  });
  server.close();
});

it('a continue token from the future, is refused as a resourceVersion from the future is', async () => {
  const server = await startServerInMemory();
  const token = Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: 99_999_999, start: 'a\u0000' })).toString('base64url');
  const answer = await server.call('GET', `${PODS}?limit=1&continue=${token}`);
  expect(answer.status).toBe(504);
  expect(answer.body.message).toContain('Too large resource version');
  expect(server.warnings).toEqual([]);
  server.close();
});
