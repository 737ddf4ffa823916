import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { ConfigMap } from '../../src/client/kinds.ts';
import { ms, percentile, row } from '../tenancy/figures.ts';
import type { BenchCluster, ClusterBench } from './cluster-bench.ts';

const CALLS = 400;
const EVERY_MS = 10;

/** How long the calls of one tenant take while another floods its own API server. */
export async function benchFlood(bench: ClusterBench): Promise<void> {
  const [quiet, loud] = [await bench.create('quiet'), await bench.create('loud')];
  const calls = { reads: readOf(quiet), writes: await writeOf(quiet) };
  await measure(calls.writes);
  const alone = { reads: await measure(calls.reads), writes: await measure(calls.writes) };
  const flooder = startFlooder(loud);
  await new Promise((resolve) => void setTimeout(resolve, 2000));
  const flooded = { reads: await measure(calls.reads), writes: await measure(calls.writes) };
  flooder.kill('SIGKILL');
  for (const what of ['reads', 'writes'] as const) {
    row(`p99 of a tenant's ${what}, alone`, ms(alone[what]), '');
    row('  while another tenant floods its own API server', `${ms(flooded[what])} (${(flooded[what] / alone[what]).toFixed(2)}x)`, '1.5x');
  }
  await bench.remove('quiet');
  await bench.remove('loud');
}

type Call = (index: number) => Promise<unknown>;

function readOf({ tenantClient }: BenchCluster): Call {
  return () => tenantClient.resource(ConfigMap, 'kube-system').list({ limit: 10 });
}

async function writeOf({ tenantClient }: BenchCluster): Promise<Call> {
  const configMaps = tenantClient.resource(ConfigMap, 'default');
  await configMaps.create({ metadata: { name: 'written' }, data: {} });
  return (index) => configMaps.patch('written', { type: 'merge', patch: { data: { index: String(index) } } });
}

/** At a steady pace, each call from when it was due. */
async function measure(call: Call): Promise<number> {
  const took: number[] = [];
  const calls: Promise<void>[] = [];
  for (let index = 0; index < CALLS; index++) {
    const started = performance.now();
    calls.push(call(index).then(() => void took.push(performance.now() - started)));
    await new Promise((resolve) => void setTimeout(resolve, EVERY_MS));
  }
  await Promise.all(calls);
  return percentile(took, 0.99);
}

/** Who floods is elsewhere: here it gets the processors that nobody else wants. It is the server that is to take from nobody. */
function startFlooder({ kubeconfig }: BenchCluster): ChildProcess {
  const program = fileURLToPath(new URL('flooder.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, kubeconfig], { stdio: 'inherit', detached: true });
  setPriority(child.pid!, constants.priority.PRIORITY_LOW);
  try {
    // Sessions are weighed against each other first, where the kernel was built so.
    writeFileSync(`/proc/${child.pid}/autogroup`, String(constants.priority.PRIORITY_LOW));
  } catch {
    // It was not.
  }
  return child;
}
