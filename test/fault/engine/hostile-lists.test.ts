import { request as httpsRequest } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectQuietLoop, whileMeasured } from '../../support/event-loop-promise.ts';
import { startMeasuredEngine, type LoopReport, type MeasuredEngine } from '../../support/measured-engine.ts';

/** Promise: lists and deletions of everything work in slices: they neither double memory nor spoil the latency of others. */
const ROUNDS = Number(process.env.TENANTRY_FAULT_ROUNDS ?? 1);
const OBJECTS = ROUNDS > 1 ? 100_000 : 3000;
const DEPENDENTS = ROUNDS > 1 ? 4000 : 300;
const PATH = '/api/v1/namespaces/many/configmaps';
const DEFAULT = '/api/v1/namespaces/default/configmaps';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

let engine: MeasuredEngine;
let quiet: number;

beforeAll(async () => {
  engine = await startMeasuredEngine();
  await engine.target.request('POST', '/api/v1/namespaces', { metadata: { name: 'many' } });
  await createMany(OBJECTS, PATH, (i) => ({
    metadata: { name: `o${i}`, labels: { tenth: String(i % 10) } },
    data: { pad: 'x'.repeat(1700) },
  }));
  const { latency } = await besideReads(() => new Promise((resolve) => setTimeout(resolve, 500)));
  quiet = latency(0.9);
}, 600_000);
afterAll(() => engine.stop(), 30_000);

async function createMany(count: number, path: string, make: (i: number) => object): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) expect((await engine.target.request('POST', path, make(next++))).status).toBe(201);
  };
  await Promise.all(Array.from({ length: 32 }, worker));
}

interface Measured<T> {
  result: T;
  report: LoopReport;
  /** Milliseconds of a get by somebody else, at a quantile. */
  latency(quantile: number): number;
}

/** Does something while another client reads one object over and over. */
async function besideReads<T>(work: () => Promise<T>): Promise<Measured<T>> {
  const times: number[] = [];
  const over = new AbortController();
  const reading = (async () => {
    while (!over.signal.aborted) {
      const started = performance.now();
      await engine.target.request('GET', '/api/v1/namespaces/default');
      times.push(performance.now() - started);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  })();
  const { result, report } = await whileMeasured(engine, work);
  over.abort();
  await reading;
  times.sort((a, b) => a - b);
  return { result, report, latency: (quantile) => times[Math.floor((times.length - 1) * quantile)] };
}

function drain(path: string, accept = 'application/json'): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(new URL(path, engine.url), { ...engine.tls, headers: { accept } }, (answer) => {
      let size = 0;
      answer.on('data', (chunk: Buffer) => (size += chunk.byteLength));
      answer.on('end', () => (answer.statusCode === 200 ? resolve(size) : reject(new Error(`answered ${answer.statusCode}`))));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

function expectFairLatency(latency: (quantile: number) => number): void {
  // Wall time on a shared machine: a stalled event loop shows as hundreds of milliseconds at once, for every read.
  expect(latency(0.9)).toBeLessThan(Math.max(100, quiet * 20));
}

describe(`a list of ${OBJECTS} objects of 2 KB`, () => {
  it.each([
    { name: 'as it is stored', path: PATH, accept: undefined, least: OBJECTS * 2000 },
    { name: 'by label', path: `${PATH}?labelSelector=tenth%3D5`, accept: undefined, least: OBJECTS * 200 },
    { name: 'by field', path: `${PATH}?fieldSelector=metadata.name!%3Do5`, accept: undefined, least: OBJECTS * 1900 },
    { name: 'as a Table', path: PATH, accept: TABLE, least: OBJECTS * 300 },
    { name: 'metadata only', path: PATH, accept: METADATA, least: OBJECTS * 300 },
    { name: 'in all namespaces', path: '/api/v1/configmaps', accept: undefined, least: OBJECTS * 2000 },
  ])('$name', { timeout: 120_000 }, async ({ name, path, accept, least }) => {
    await engine.collectGarbage();
    const before = (await engine.report()).rss;
    const { result, report, latency } = await besideReads(() => drain(path, accept));
    expect(result).toBeGreaterThan(least);
    expectQuietLoop(report, name);
    expectFairLatency(latency);
    expect((report.peakRss - before) / 1e6).toBeLessThan(Math.max(150, (OBJECTS * 2500) / 1e6));
  });

  it('four at once share what they need', { timeout: 120_000 }, async () => {
    const { report, latency } = await besideReads(() => Promise.all([1, 2, 3, 4].map(() => drain(PATH))));
    expectQuietLoop(report, 'four lists');
    expectFairLatency(latency);
  });
});

describe('deletions of many', () => {
  it('deletecollection of a fifth of them', { timeout: 120_000 }, async () => {
    const { result, report, latency } = await besideReads(() => engine.target.request('DELETE', `${PATH}?labelSelector=tenth+in+(1,2)`));
    expect([result.status, result.body.items.length]).toEqual([200, OBJECTS / 5]);
    expectQuietLoop(report, 'deletecollection');
    expectFairLatency(latency);
    expect((await engine.target.request('GET', `${PATH}?labelSelector=tenth+in+(1,2)`)).body.items).toEqual([]);
  });

  it(`${DEPENDENTS} dependents go when their owner goes`, { timeout: 120_000 }, async () => {
    const owner = await engine.target.request('POST', DEFAULT, { metadata: { name: 'owner' } });
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.body.metadata.uid }];
    await createMany(DEPENDENTS, DEFAULT, (i) => ({ metadata: { name: `dependent-${i}`, labels: { dependent: 'yes' }, ownerReferences } }));
    const { report, latency } = await besideReads(async () => {
      await engine.target.request('DELETE', `${DEFAULT}/owner`);
      await gone(`${DEFAULT}?labelSelector=dependent&limit=1`);
    });
    expectQuietLoop(report, 'garbage collection');
    expectFairLatency(latency);
  });

  it('a namespace with the rest of them', { timeout: 300_000 }, async () => {
    const { report, latency } = await besideReads(async () => {
      await engine.target.request('DELETE', '/api/v1/namespaces/many');
      await expect
        .poll(async () => (await engine.target.request('GET', '/api/v1/namespaces/many')).status, { timeout: 240_000, interval: 200 })
        .toBe(404);
    });
    expectQuietLoop(report, 'deletion of a namespace');
    expectFairLatency(latency);
  });

  async function gone(path: string): Promise<void> {
    await expect
      .poll(async () => (await engine.target.request('GET', path)).body.items.length, { timeout: 100_000, interval: 100 })
      .toBe(0);
  }
});
