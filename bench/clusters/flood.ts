import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { constants, loadavg, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { ConfigMap } from '../../src/client/kinds.ts';
import { ms, percentile, row } from '../tenancy/figures.ts';
import type { BenchCluster, ClusterBench } from './cluster-bench.ts';

const CALLS = 150;
const EVERY_MS = 10;
/** Quiet and flooded take turns, so that whatever else happens on the machine happens to both. */
const ROUNDS = 5;
/** Until what there is to do of a flood is done, and until one is noticed. */
const SETTLE_MS = 3000;

/** How long the calls of one tenant take while another floods its own API server. */
export async function benchFlood(bench: ClusterBench): Promise<void> {
  const [quiet, loud] = [await bench.create('quiet'), await bench.create('loud')];
  const calls = { reads: readOf(quiet), writes: await writeOf(quiet) };
  for (const what of ['reads', 'writes'] as const) for (let warm = 0; warm < 3; warm++) await measure(calls[what]);
  const took = { alone: { reads: [] as number[], writes: [] as number[] }, flooded: { reads: [] as number[], writes: [] as number[] } };
  const flooder = startFlooder(loud);
  const load = loadavg()[0].toFixed(1);
  for (let round = 0; round < ROUNDS; round++) {
    for (const when of ['flooded', 'alone'] as const) {
      flooder.kill(when === 'flooded' ? 'SIGCONT' : 'SIGSTOP');
      await new Promise((resolve) => void setTimeout(resolve, SETTLE_MS));
      for (const what of ['reads', 'writes'] as const) took[when][what].push(...(await measure(calls[what])));
    }
  }
  flooder.kill('SIGKILL');
  for (const what of ['reads', 'writes'] as const) {
    const [alone, flooded] = [percentile(took.alone[what], 0.99), percentile(took.flooded[what], 0.99)];
    row(`p99 of a tenant's ${what}, alone (load ${load})`, ms(alone), '');
    row('  while another tenant floods its own API server', `${ms(flooded)} (${(flooded / alone).toFixed(2)}x)`, '1.5x');
    const medians = `${ms(percentile(took.alone[what], 0.5))} and ${ms(percentile(took.flooded[what], 0.5))}`;
    row('  half of them take no more than, alone and flooded', medians, '');
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
async function measure(call: Call): Promise<number[]> {
  const took: number[] = [];
  const calls: Promise<void>[] = [];
  for (let index = 0; index < CALLS; index++) {
    const started = performance.now();
    calls.push(call(index).then(() => void took.push(performance.now() - started)));
    await new Promise((resolve) => void setTimeout(resolve, EVERY_MS));
  }
  await Promise.all(calls);
  return took;
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
