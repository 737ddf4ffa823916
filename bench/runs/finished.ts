import { RunKind, type Run } from '../../src/api/kruntimes.io/v1alpha1/run.ts';
import type { Client } from '../../src/client/client.ts';
import { row } from './row.ts';
import { withProduct } from './product.ts';
import { aRun, createRuntime, Ends, percentile, throughput } from './some-runs.ts';

const FINISHED = Number(process.env['BENCH_FINISHED'] ?? 100_000);
const SAMPLES = 300;
const WRITERS = 32;

/** How long it takes until a Run has its Pod, with so many finished Runs beside it and with none. */
export async function benchFinished(options: string[]): Promise<void> {
  await withProduct(options, async ({ client }) => {
    const ends = new Ends();
    const stop = new AbortController();
    await ends.follow(client, 'default', stop.signal);
    await createRuntime(client, 'default', 'bench', 'shared');
    await throughput({ client, namespace: 'default', ends, runtime: 'bench' }, 'first', SAMPLES);
    const none = await scheduleLatencies(client, ends, 'none');
    stop.abort();
    await makeFinished(client);
    const again = new AbortController();
    const later = new Ends();
    await later.follow(client, 'default', again.signal);
    const many = await scheduleLatencies(client, later, 'many');
    again.abort();
    const ratio = percentile(many, 0.5) / percentile(none, 0.5);
    const shown = (found: number[]) => `${percentile(found, 0.5).toFixed(1)} (p99 ${percentile(found, 0.99).toFixed(1)})`;
    row(`create to Scheduled, no finished Runs, p50 (ms)`, shown(none), '');
    row(`create to Scheduled, ${FINISHED} finished Runs, p50 (ms)`, `${shown(many)} ${ratio.toFixed(2)}x`, '<= 1.2x');
  });
}

/** One Run at a time; each is let end before the next. */
async function scheduleLatencies(client: Client, ends: Ends, label: string): Promise<number[]> {
  const runs = client.resource(RunKind, 'default');
  const { metadata } = await runs.list({ limit: 1 });
  const stop = new AbortController();
  const scheduled = new Map<string, () => void>();
  const watch = async () => {
    for await (const update of runs.watch({ resourceVersion: metadata.resourceVersion, signal: stop.signal })) {
      if (!('object' in update) || update.object.status?.assignedPod === undefined) continue;
      scheduled.get(update.object.metadata.name!)?.();
    }
  };
  const watching = watch();
  const found: number[] = [];
  for (let i = 0; i < SAMPLES; i++) {
    const name = `${label}-${i}`;
    const started = performance.now();
    const seen = new Promise<void>((resolve) => scheduled.set(name, resolve));
    await runs.create(aRun(name, 'bench'));
    await seen;
    found.push(performance.now() - started);
    await ends.of(name);
  }
  stop.abort();
  await watching.catch(() => {});
  return found.toSorted((a, b) => a - b);
}

/** Runs of a Runtime that nobody has, ended by us. */
async function makeFinished(client: Client): Promise<void> {
  const runs = client.resource(RunKind, 'default');
  let next = 0;
  const writer = async () => {
    for (let i = next++; i < FINISHED; i = next++) {
      const name = `finished-${i}`;
      await runs.create({
        ...aRun(name, 'nobody'),
        spec: { ...aRun(name, 'nobody').spec, ttlSecondsAfterFinished: 86_400 } as Run['spec'],
      });
      const status = { phase: 'Succeeded', completionTime: new Date().toISOString().replace(/\.\d+Z$/, 'Z'), attempt: 1, message: 'done' };
      await runs.status.patch(name, { type: 'merge', patch: { status } });
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}
