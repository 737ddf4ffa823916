import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ConfigMap } from '../../src/client/kinds.ts';
import { ms, percentile, row } from '../tenancy/figures.ts';
import type { BenchCluster, ClusterBench } from './cluster-bench.ts';

const CALLS = 400;
const EVERY_MS = 10;

/** How long the calls of one tenant take while another floods its own API server. */
export async function benchFlood(bench: ClusterBench): Promise<void> {
  const [quiet, loud] = [await bench.create('quiet'), await bench.create('loud')];
  await measure(quiet);
  const alone = await measure(quiet);
  const flooder = startFlooder(loud);
  await new Promise((resolve) => void setTimeout(resolve, 2000));
  const flooded = await measure(quiet);
  flooder.kill('SIGKILL');
  row("p99 of a tenant's writes, alone", ms(alone), '');
  row('the same while another tenant floods its own API server', `${ms(flooded)} (${(flooded / alone).toFixed(2)}x)`, '1.5x');
  await bench.remove('quiet');
  await bench.remove('loud');
}

/** At a steady pace, each call from when it was due. */
async function measure({ tenantClient }: BenchCluster): Promise<number> {
  const configMaps = tenantClient.resource(ConfigMap, 'default');
  const took: number[] = [];
  const calls: Promise<void>[] = [];
  const name = `m-${Math.random().toString(36).slice(2)}`;
  await configMaps.create({ metadata: { name }, data: {} });
  for (let call = 0; call < CALLS; call++) {
    const started = performance.now();
    const one = configMaps.patch(name, { type: 'merge', patch: { data: { call: String(call) } } });
    calls.push(one.then(() => void took.push(performance.now() - started)));
    await new Promise((resolve) => void setTimeout(resolve, EVERY_MS));
  }
  await Promise.all(calls);
  return percentile(took, 0.99);
}

function startFlooder({ kubeconfig }: BenchCluster): ChildProcess {
  return spawn(process.execPath, [fileURLToPath(new URL('flooder.mjs', import.meta.url)), kubeconfig], { stdio: 'inherit' });
}
