import { RunKind } from '../../src/api/kruntimes.io/v1alpha1/run.ts';
import { createClient, type Client } from '../../src/client/client.ts';
import { connectContext } from '../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../src/client/config/kubeconfig.ts';
import { Namespace } from '../../src/client/kinds.ts';
import { join } from 'node:path';
import { withProduct } from './product.ts';
import { row } from './row.ts';
import { aRun, createRuntime, Ends, latencies, percentile, throughput } from './some-runs.ts';

const FLOOD = Number(process.env['BENCH_FLOOD'] ?? 50_000);
const SAMPLES = Number(process.env['BENCH_SAMPLES'] ?? 300);
const WRITERS = 16;

/** What a tenant that asks for little notices of another that has a flood of Runs waiting. Each is a user, a namespace and a Runtime. */
export async function benchFair(options: string[]): Promise<void> {
  await withProduct(options, async ({ client, data }) => {
    for (const name of ['quiet', 'loud']) {
      await client.resource(Namespace).create({ metadata: { name } });
      await createRuntime(client, name, 'bench', 'shared');
    }
    const [quiet, loud] = await Promise.all(['quiet', 'loud'].map((user) => clientOf(data, user)));
    const ends = new Ends();
    const stop = new AbortController();
    await ends.follow(quiet, 'quiet', stop.signal);
    const work = { client: quiet, namespace: 'quiet', ends, runtime: 'bench' };
    await throughput(work, 'first', SAMPLES);
    const idle = await latencies(work, 'idle', SAMPLES);
    const flood = { left: FLOOD };
    const flooding = Promise.all(Array.from({ length: WRITERS }, () => pour(loud, flood)));
    while (flood.left > FLOOD * 0.9) await new Promise((resolve) => setTimeout(resolve, 20));
    const beside = await latencies(work, 'beside', SAMPLES);
    const [created, ended] = [FLOOD - Math.max(0, flood.left), await endedOf(loud)];
    flood.left = 0;
    await flooding;
    stop.abort();
    const ratio = percentile(beside, 0.99) / percentile(idle, 0.99);
    const shown = (found: number[]) => `${percentile(found, 0.99).toFixed(1)} (p50 ${percentile(found, 0.5).toFixed(1)})`;
    row('quiet tenant alone, p99 (ms)', shown(idle), '');
    row(`quiet tenant beside a flood of ${FLOOD} Runs, p99 (ms)`, `${shown(beside)} ${ratio.toFixed(2)}x`, '<= 2x');
    console.log(`when the last quiet Run had ended, ${created} Runs of the flood had been created and ${ended} had ended`);
  });
}

async function clientOf(data: string, user: string): Promise<Client> {
  const context = resolveContext(await loadKubeconfig({ path: join(data, 'kubeconfig') }));
  return createClient(await connectContext(context), { headers: { 'Impersonate-User': user, 'Impersonate-Group': 'system:masters' } });
}

async function pour(client: Client, flood: { left: number }): Promise<void> {
  const runs = client.resource(RunKind, 'loud');
  while (flood.left > 0) await runs.create(aRun(`flood-${flood.left--}`, 'bench'));
}

async function endedOf(client: Client): Promise<number> {
  const { items } = await client.metadata(RunKind, 'loud').listAll({ fieldSelector: 'status.phase=Succeeded' });
  return items.length;
}
