import { afterAll, beforeAll, expect, it } from 'vitest';
import { isConditionTrue } from '../../../src/kube/conditions.ts';
import type { Json } from '../../../src/kube/object.ts';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../support/embedded-target.ts';

/** An object at the limit of what people may write is worked on by the system like any other. */
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const PODS = '/api/v1/namespaces/default/pods';
const MERGE = { contentType: 'application/merge-patch+json' };
const PATIENCE = { timeout: 15_000, interval: 50 };

let target: EmbeddedTarget;
beforeAll(async () => {
  target = await startEmbeddedTarget();
});
afterAll(() => target.close());

/** Some 4,950 of 5,000 values. */
function podSpec(): Json {
  const env = Array.from({ length: 1640 }, (_, i) => ({ name: `NAME_${i}`, value: 'some text that takes its place' }));
  return { containers: [{ name: 'main', image: 'example.com/main:1', env }] };
}

const deployment: Json = {
  metadata: { name: 'large' },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'large' } },
    template: { metadata: { labels: { app: 'large' } }, spec: podSpec() },
  },
};

it('a Deployment gets its ReplicaSet and its status', async () => {
  expect((await target.request('POST', DEPLOYMENTS, deployment)).status).toBe(201);
  const available = async () => {
    const { body } = await target.request('GET', `${DEPLOYMENTS}/large`);
    return isConditionTrue(body.status?.conditions, 'Available');
  };
  await expect.poll(available, PATIENCE).toBe(true);
  const { body } = await target.request('GET', '/apis/apps/v1/namespaces/default/replicasets');
  expect(body.items).toHaveLength(1);
  expect(body.items[0].spec.template.spec.containers[0].env).toHaveLength(1640);
});

it('a person may send it back as it was read, and label it', async () => {
  const { body } = await target.request('GET', `${DEPLOYMENTS}/large`);
  body.metadata.labels = { tier: 'web' };
  expect((await target.request('PUT', `${DEPLOYMENTS}/large`, body)).status).toBe(200);
  expect((await target.request('PATCH', `${DEPLOYMENTS}/large`, { metadata: { labels: { tier: 'db' } } }, MERGE)).status).toBe(200);
});

it('a person may not make it grow', async () => {
  const more = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`label-${i}`, 'x']));
  const { status, body } = await target.request('PATCH', `${DEPLOYMENTS}/large`, { metadata: { labels: more } }, MERGE);
  expect({ status, message: body.message }).toEqual({ status: 413, message: expect.stringContaining('more than 5000 values') });
});

it('a Pod gets its status', async () => {
  expect((await target.request('POST', PODS, { metadata: { name: 'large' }, spec: podSpec() })).status).toBe(201);
  const conditions = Array.from({ length: 50 }, (_, i) => ({ type: `example.com/c${i}`, status: 'True', reason: 'Fine', message: 'm' }));
  const patch = { status: { phase: 'Running', conditions } };
  const { status, body } = await target.request('PATCH', `${PODS}/large/status`, patch, MERGE);
  expect(status).toBe(200);
  expect(body.status.conditions.length).toBeGreaterThanOrEqual(50);
});
