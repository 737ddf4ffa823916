import { expect, it } from 'vitest';
import type { ApiSuiteContext } from './suite.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function crudSuite({ target, namespace, path }: ApiSuiteContext): void {
  const configMap = (name: string, data: Record<string, string> = { key: 'value' }) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data,
  });

  it('create answers 201 with the object and the fields that the server owns', async () => {
    const { status, body } = await target().request('POST', path('configmaps'), configMap('made'));
    expect(status).toBe(201);
    expect(body).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made', namespace }, data: { key: 'value' } });
    expect(body.metadata.uid).toMatch(UUID);
    expect(body.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
    expect(body.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  it('create ignores what a client says about server-owned fields', async () => {
    const { body } = await target().request('POST', path('configmaps'), {
      ...configMap('owned'),
      metadata: { name: 'owned', uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z', deletionTimestamp: '2001-01-01T00:00:00Z' },
    });
    expect(body.metadata.uid).toMatch(UUID);
    expect(body.metadata.creationTimestamp).not.toContain('2001');
    expect(body.metadata.deletionTimestamp).toBeUndefined();
  });

  it('create makes a name from generateName', async () => {
    const { status, body } = await target().request('POST', path('configmaps'), { metadata: { generateName: 'gen-' } });
    expect(status).toBe(201);
    expect(body.metadata.name).toMatch(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  it('create records the fields the client set as its own', async () => {
    const { body } = await target().request('POST', `${path('configmaps')}?fieldManager=suite`, configMap('managed'));
    expect(body.metadata.managedFields).toHaveLength(1);
    expect(body.metadata.managedFields[0]).toMatchObject({
      manager: 'suite',
      operation: 'Update',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { '.': {}, 'f:key': {} } },
    });
  });

  it('a dry run answers as if, and stores nothing', async () => {
    const { status, body } = await target().request('POST', `${path('configmaps')}?dryRun=All`, configMap('dry'));
    expect(status).toBe(201);
    expect(body.metadata.uid).toMatch(UUID);
    expect(body.metadata.resourceVersion).toBeUndefined();
    expect((await target().request('GET', path('configmaps', 'dry'))).status).toBe(404);
  });

  it('get answers with what was created', async () => {
    await target().request('POST', path('configmaps'), configMap('read'));
    const { status, body } = await target().request('GET', path('configmaps', 'read'));
    expect(status).toBe(200);
    expect(body).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'read' }, data: { key: 'value' } });
  });

  it('update replaces the object and moves its resourceVersion', async () => {
    const created = (await target().request('POST', path('configmaps'), configMap('changed'))).body;
    const { status, body } = await target().request('PUT', path('configmaps', 'changed'), { ...created, data: { other: 'x' } });
    expect(status).toBe(200);
    expect(body.data).toEqual({ other: 'x' });
    expect(body.metadata.uid).toBe(created.metadata.uid);
    expect(Number(body.metadata.resourceVersion)).toBeGreaterThan(Number(created.metadata.resourceVersion));
  });

  it('an update that changes nothing keeps the resourceVersion', async () => {
    const created = (await target().request('POST', path('configmaps'), configMap('same'))).body;
    const { body } = await target().request('PUT', path('configmaps', 'same'), created);
    expect(body.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
  });

  it('an update without a resourceVersion replaces whatever is there', async () => {
    const created = (await target().request('POST', path('configmaps'), configMap('unconditional'))).body;
    const { status, body } = await target().request('PUT', path('configmaps', 'unconditional'), configMap('unconditional', { other: 'x' }));
    expect(status).toBe(200);
    expect(body.data).toEqual({ other: 'x' });
    expect(body.metadata.uid).toBe(created.metadata.uid);
    expect(Number(body.metadata.resourceVersion)).toBeGreaterThan(Number(created.metadata.resourceVersion));
  });

  it('an update with a stale resourceVersion is refused with Conflict', async () => {
    const created = (await target().request('POST', path('configmaps'), configMap('stale'))).body;
    await target().request('PUT', path('configmaps', 'stale'), { ...created, data: { a: '1' } });
    const { status, body } = await target().request('PUT', path('configmaps', 'stale'), { ...created, data: { b: '2' } });
    expect(status).toBe(409);
    expect(body).toMatchObject({
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "stale": the object has been modified; please apply your changes to the latest version and try again',
      details: { name: 'stale', kind: 'configmaps' },
    });
  });

  // Ingresses have a status and, on every server under test, no controller that would write it meanwhile.
  const backend = (name: string) => ({ defaultBackend: { service: { name, port: { number: 80 } } } });
  const ingressStatus = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };

  it('a spec change raises the generation, a status change does not', async () => {
    const url = path('ingresses', 'generations');
    const created = (await target().request('POST', path('ingresses'), { metadata: { name: 'generations' }, spec: backend('a') })).body;
    expect(created.metadata.generation).toBe(1);
    const updated = (await target().request('PUT', url, { ...created, spec: backend('b') })).body;
    expect(updated.metadata.generation).toBe(2);
    const { status, body } = await target().request('PUT', `${url}/status`, { ...updated, status: ingressStatus });
    expect(status).toBe(200);
    expect(body.metadata.generation).toBe(2);
    expect(body.status).toEqual(ingressStatus);
  });

  it('a main update does not touch status, a status update does not touch spec', async () => {
    const url = path('ingresses', 'generations');
    const current = (await target().request('GET', url)).body;
    const main = (await target().request('PUT', url, { ...current, status: { loadBalancer: {} } })).body;
    expect(main.status).toEqual(ingressStatus);
    const status = (await target().request('PUT', `${url}/status`, { ...main, spec: backend('c') })).body;
    expect(status.spec).toEqual(backend('b'));
  });

  it('Deployments get the defaults of Kubernetes', async () => {
    const { body } = await target().request('POST', path('deployments'), {
      metadata: { name: 'defaulted' },
      spec: {
        selector: { matchLabels: { app: 'x' } },
        template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    expect(body.spec).toMatchObject({
      progressDeadlineSeconds: 600,
      revisionHistoryLimit: 10,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
      template: {
        spec: {
          dnsPolicy: 'ClusterFirst',
          restartPolicy: 'Always',
          schedulerName: 'default-scheduler',
          terminationGracePeriodSeconds: 30,
          securityContext: {},
          containers: [
            { imagePullPolicy: 'Always', terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File', resources: {} },
          ],
        },
      },
    });
  });
}
