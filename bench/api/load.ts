// The load generator, a process of its own: reads one scenario from its arguments, prints its result as one line of JSON.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Connection, type Target } from './http-client.ts';
import type { WatchersWork } from './watchers.ts';

export interface Result {
  perSecond?: number;
  p50?: number;
  p99?: number;
  milliseconds?: number;
  bytes?: number;
}

const PAYLOAD = 'x'.repeat(1700);
const CLIENTS = 32;
/** A patch that changes nothing is no write: values of an earlier round must not come again. */
const ROUND = Date.now();

/** Made by joining texts: the generator shares two cores with what it measures, so it must not spend them on encoding. */
const BODY_START = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"';
const BODY_END = `","labels":{"app":"bench","shard":"5"},"annotations":{"example.com/purpose":"benchmark"}},"data":{"key":"${PAYLOAD}","other":"value"}}`;

function configMap(name: string): string {
  return BODY_START + name + BODY_END;
}

async function drive(target: Target, total: number, clients: number, run: (connection: Connection, index: number) => Promise<number>) {
  const connections = await Promise.all(Array.from({ length: clients }, () => Connection.open(target)));
  let next = 0;
  const latencies: number[] = [];
  const started = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      for (let index = next++; index < total; index = next++) {
        const from = performance.now();
        const status = await run(connection, index);
        if (status >= 400) throw new Error(`request ${index} was answered with ${status}`);
        latencies.push(performance.now() - from);
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  for (const connection of connections) connection.close();
  latencies.sort((a, b) => a - b);
  return { perSecond: total / seconds, p50: latencies[Math.floor(total / 2)], p99: latencies[Math.floor(total * 0.99)] };
}

const path = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;

const scenarios: Record<string, (target: Target, namespace: string, count: number) => Promise<Result>> = {
  create: (target, namespace, count) =>
    drive(target, count, CLIENTS, async (c, i) => (await c.request('POST', path(namespace), configMap(`cm-${i}`))).status),
  get: (target, namespace, count) =>
    drive(target, count, CLIENTS, async (c, i) => (await c.request('GET', `${path(namespace)}/cm-${i % 2000}`)).status),
  patch: (target, namespace, count) =>
    drive(
      target,
      count,
      CLIENTS,
      async (c, i) =>
        (
          await c.request(
            'PATCH',
            `${path(namespace)}/cm-${i % 2000}`,
            `{"data":{"other":"${ROUND}-${i}"}}`,
            'application/merge-patch+json',
          )
        ).status,
    ),
  async list(target, namespace, count) {
    const connection = await Connection.open(target);
    const times: number[] = [];
    let bytes = 0;
    for (let i = 0; i < count; i++) {
      const from = performance.now();
      bytes = (await connection.request('GET', `${path(namespace)}?labelSelector=app%3Dbench`)).bytes;
      times.push(performance.now() - from);
    }
    connection.close();
    times.sort((a, b) => a - b);
    return { milliseconds: times[Math.floor(times.length / 2)], bytes };
  },
  watch: (target, namespace, count) => watchFanOut(target, namespace, count, 50, 8),
};

async function watchFanOut(target: Target, namespace: string, updates: number, watchers: number, writers: number): Promise<Result> {
  const setup = await Connection.open(target);
  const list = JSON.parse((await setup.request('GET', `${path(namespace)}?limit=1`, undefined, undefined, true)).body);
  setup.close();
  const expected = updates * watchers;
  const work: WatchersWork = {
    target,
    path: `${path(namespace)}?watch=1&resourceVersion=${list.metadata.resourceVersion}`,
    watchers,
    expected,
  };
  // A thread of their own: what watchers have to read must not hold up the writers, which wait for each answer.
  const thread = new Worker(new URL('watchers.mjs', import.meta.url), { workerData: work });
  await once(thread, 'message');
  const finished = once(thread, 'message', { signal: AbortSignal.timeout(60_000) });
  const started = performance.now();
  const writing = drive(
    target,
    updates,
    writers,
    async (c, i) =>
      (await c.request('PATCH', `${path(namespace)}/cm-${i % 2000}`, `{"data":{"other":"${ROUND}-${i}"}}`, 'application/merge-patch+json'))
        .status,
  );
  await Promise.all([writing, finished]);
  const seconds = (performance.now() - started) / 1000;
  await thread.terminate();
  return { perSecond: expected / seconds };
}

const [scenario, encoded, namespace, count] = process.argv.slice(2);
const target = JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')) as Target;
console.log(JSON.stringify(await scenarios[scenario](target, namespace, Number(count))));
process.exit(0);
