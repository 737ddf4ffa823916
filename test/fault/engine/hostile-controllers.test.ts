import { afterAll, beforeAll, expect, it } from 'vitest';
import { whileQuiet } from '../../support/event-loop-promise.ts';
import { startMeasuredEngine, type MeasuredEngine } from '../../support/measured-engine.ts';

/** Promise: what controllers do with thousands of objects at once is done in slices: nobody else waits for it. */
const ROUNDS = Number(process.env.TENANTRY_FAULT_ROUNDS ?? 1);
const PODS = ROUNDS > 1 ? 4000 : 1000;
const PENDING = ROUNDS > 1 ? 10_000 : 2000;

let engine: MeasuredEngine;
beforeAll(async () => {
  engine = await startMeasuredEngine();
}, 60_000);
afterAll(() => engine.stop(), 60_000);

async function namespace(name: string): Promise<string> {
  expect((await engine.target.request('POST', '/api/v1/namespaces', { metadata: { name } })).status).toBe(201);
  const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
  await expect.poll(async () => (await engine.target.request('GET', account)).status, { timeout: 30_000 }).toBe(200);
  return `/api/v1/namespaces/${name}`;
}

async function createMany(count: number, path: string, make: (i: number) => object): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) expect((await engine.target.request('POST', path, make(next++))).status).toBe(201);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** A Pod for which nobody looks for a node, unless `spec` says so. */
function pod(name: string, metadata: object = {}, spec: object = { schedulerName: 'nobody' }): object {
  const containers = [{ name: 'a', image: 'b', resources: { requests: { cpu: '10m' } } }];
  return { metadata: { name, ...metadata }, spec: { containers, ...spec } };
}

async function countOf(path: string): Promise<number> {
  const { body } = await engine.target.request('GET', `${path}?limit=1`);
  return body.items.length + (body.metadata.remainingItemCount ?? 0);
}

it(`a ReplicaSet goes with its ${PODS} Pods`, { timeout: 300_000 }, async () => {
  const place = (round: number) => `owned-${round}`;
  const sets = (round: number) => `/apis/apps/v1/namespaces/${place(round)}/replicasets`;
  const prepare = async (round: number) => {
    const base = await namespace(place(round));
    const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'a', image: 'b' }] } };
    const spec = { replicas: 0, selector: { matchLabels: { app: 'x' } }, template };
    const { body } = await engine.target.request('POST', sets(round), { metadata: { name: 'set' }, spec });
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'set', uid: body.metadata.uid }];
    await createMany(PODS, `${base}/pods`, (i) => pod(`p${i}`, { ownerReferences }));
  };
  const work = async (round: number) => {
    expect((await engine.target.request('DELETE', `${sets(round)}/set`)).status).toBe(200);
    const pods = `/api/v1/namespaces/${place(round)}/pods`;
    await expect.poll(() => countOf(pods), { timeout: 240_000, interval: 200 }).toBe(0);
  };
  await whileQuiet(engine, `garbage collection of ${PODS} Pods`, work, prepare);
});

it(`a namespace goes with ${PODS} Pods`, { timeout: 300_000 }, async () => {
  const prepare = async (round: number) => {
    const base = await namespace(`leaving-${round}`);
    await createMany(PODS, `${base}/pods`, (i) => pod(`p${i}`));
  };
  const work = async (round: number) => {
    const base = `/api/v1/namespaces/leaving-${round}`;
    await engine.target.request('DELETE', base);
    await expect.poll(async () => (await engine.target.request('GET', base)).status, { timeout: 240_000, interval: 200 }).toBe(404);
  };
  await whileQuiet(engine, `deletion of a namespace with ${PODS} Pods`, work, prepare);
});

it(`a quota counts ${PODS} Pods and as many ConfigMaps`, { timeout: 300_000 }, async () => {
  const base = await namespace('counted');
  await createMany(PODS, `${base}/pods`, (i) => pod(`p${i}`));
  await createMany(PODS, `${base}/configmaps`, (i) => ({ metadata: { name: `c${i}` } }));
  await whileQuiet(engine, 'counting for a quota', async (round) => {
    const hard = { pods: '100000', 'requests.cpu': '1000', 'count/configmaps': '100000' };
    await engine.target.request('POST', `${base}/resourcequotas`, { metadata: { name: `all-${round}` }, spec: { hard } });
    const used = async () => (await engine.target.request('GET', `${base}/resourcequotas/all-${round}`)).body.status?.used?.pods;
    await expect.poll(used, { timeout: 60_000 }).toBe(`${PODS / 1000}k`);
  });
});

it(`${PENDING} Pods that fit nowhere, looked at again when a node changes`, { timeout: 600_000 }, async () => {
  const base = await namespace('waiting');
  let last = 0;
  await whileQuiet(engine, `creating ${PENDING} Pods that fit nowhere`, async (round) => {
    await createMany(PENDING, `${base}/pods`, (i) => pod(`p${round}-${i}`, {}, { nodeSelector: { no: 'where' } }));
    last = round;
  });
  const pods = `${base}/pods/p${last}-${PENDING - 1}`;
  const reason = async () => (await engine.target.request('GET', pods)).body.status?.conditions?.[0]?.reason;
  await expect.poll(reason, { timeout: 120_000, interval: 200 }).toBe('Unschedulable');
  const { body } = await engine.target.request('GET', '/api/v1/nodes');
  await whileQuiet(engine, `looking at ${PENDING} Pods again`, async (round) => {
    const node = `/api/v1/nodes/${body.items[0].metadata.name}`;
    for (let i = 0; i < 3; i++) {
      const labels = { round: `${round}-${i}` };
      await engine.target.request('PATCH', node, { metadata: { labels } }, { contentType: 'application/merge-patch+json' });
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  });
});
