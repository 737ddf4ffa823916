import { RunKind } from '../../src/api/kruntimes.io/v1alpha1/run.ts';
import type { Client } from '../../src/client/client.ts';
import { Namespace } from '../../src/client/kinds.ts';
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { userClient, withProduct } from './product.ts';
import { row } from './row.ts';
import { createRuntime, Ends, latencies, percentile, throughput } from './some-runs.ts';

const FLOOD = Number(process.env['BENCH_FLOOD'] ?? 50_000);
const AT_ONCE = 16;
const SAMPLES = Number(process.env['BENCH_SAMPLES'] ?? 300);

/** What a tenant that asks for little notices of another that has a flood of Runs waiting. Each is a user, a namespace and a Runtime. */
export async function benchFair(options: string[]): Promise<void> {
  await withProduct(options, async ({ client, data }) => {
    for (const name of ['quiet', 'loud']) {
      await client.resource(Namespace).create({ metadata: { name } });
      await createRuntime(client, name, 'bench', 'shared', AT_ONCE);
    }
    const quiet = await userClient(data, 'quiet');
    const ends = new Ends();
    const stop = new AbortController();
    await ends.follow(quiet, 'quiet', stop.signal);
    const work = { client: quiet, namespace: 'quiet', ends, runtime: 'bench' };
    await throughput(work, 'first', SAMPLES);
    const idle = await latencies(work, 'idle', SAMPLES);
    const flood = startFlood(data);
    while (flood.created < FLOOD * 0.1) await new Promise((resolve) => setTimeout(resolve, 20));
    const beside = await latencies(work, 'beside', SAMPLES);
    const [created, ended] = [flood.created, await endedOf(client)];
    flood.child.kill('SIGKILL');
    stop.abort();
    const ratio = percentile(beside, 0.99) / percentile(idle, 0.99);
    const shown = (found: number[]) => `${percentile(found, 0.99).toFixed(1)} (p50 ${percentile(found, 0.5).toFixed(1)})`;
    row('quiet tenant alone, p99 (ms)', shown(idle), '');
    row(`quiet tenant beside a flood of ${FLOOD} Runs, p99 (ms)`, `${shown(beside)} ${ratio.toFixed(2)}x`, '<= 2x');
    console.log(`when the last quiet Run had ended, ${created} Runs of the flood had been created and ${ended} had ended`);
  });
}

function startFlood(data: string): { child: ChildProcess; created: number } {
  const program = fileURLToPath(new URL('flooder.mjs', import.meta.url));
  const flood = { child: fork(program, [data, 'loud', 'loud', String(FLOOD)], { detached: true }), created: 0 };
  flood.child.on('message', (created: number) => (flood.created = created));
  return flood;
}

async function endedOf(client: Client): Promise<number> {
  const { items } = await client.metadata(RunKind, 'loud').listAll({ fieldSelector: 'status.phase=Succeeded' });
  return items.length;
}
