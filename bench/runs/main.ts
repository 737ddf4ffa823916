// How fast Runs are, beside the least that they could cost: `npm run bench -- runs`.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunKind, type Run } from '../../src/api/kruntimes.io/v1alpha1/run.ts';
import { RuntimeKind } from '../../src/api/kruntimes.io/v1alpha1/runtime.ts';
import { createClient, type Client } from '../../src/client/client.ts';
import { connectContext } from '../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../src/client/config/kubeconfig.ts';
import { calibrate } from '../api/calibration.ts';

const RUNS = 1000;
const CONCURRENCY = 16;
const IDLE_RUNS = 60;

/** The least that a Run can cost: a process of bash, with its output read. */
async function bareSpawns(count: number): Promise<number> {
  const started = performance.now();
  let left = count;
  const worker = async () => {
    while (left-- > 0) {
      await new Promise<void>((resolve) =>
        spawn('bash', ['-c', 'true'], { stdio: ['ignore', 'pipe', 'pipe'] }).once('close', () => resolve()),
      );
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return count / ((performance.now() - started) / 1000);
}

async function startProduct(data: string) {
  const child = spawn(process.execPath, ['bin/tenantry', 'up', '--data', data, '--port', '0', ...process.argv.slice(2)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes(' is ready at ')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`tenantry ended with ${code}`)));
  });
  const context = resolveContext(await loadKubeconfig({ path: join(data, 'kubeconfig') }));
  return { child, client: createClient(await connectContext(context)) };
}

function runtime(name: string, isolation: 'shared' | 'process') {
  return {
    metadata: { name, namespace: 'default' },
    spec: {
      template: { spec: { containers: [{ name: 'runtime', image: 'tenantry.dev/runtime-bash', resources: {} }] } },
      capacity: { resources: { runs: CONCURRENCY } },
      replicas: 1,
      warmWorkers: CONCURRENCY,
      isolation,
    },
  };
}

/** Sees every end by the clock of the one who waits. */
class Ends {
  readonly #seen = new Map<string, number>();
  readonly #waiting = new Map<string, () => void>();

  async follow(client: Client, signal: AbortSignal): Promise<void> {
    const runs = client.resource(RunKind, 'default');
    const { metadata } = await runs.list({ limit: 1 });
    const watch = async () => {
      for await (const update of runs.watch({ resourceVersion: metadata.resourceVersion, signal })) {
        if (!('object' in update) || update.object.status?.completionTime === undefined) continue;
        const { name } = update.object.metadata;
        if (update.object.status.phase !== 'Succeeded') throw new Error(`Run ${name}: ${JSON.stringify(update.object.status)}`);
        this.#seen.set(name!, performance.now());
        this.#waiting.get(name!)?.();
      }
    };
    watch().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }

  async of(name: string): Promise<number> {
    if (!this.#seen.has(name)) await new Promise<void>((resolve) => this.#waiting.set(name, resolve));
    this.#waiting.delete(name);
    return this.#seen.get(name)!;
  }
}

function aRun(name: string, runtimeName: string): Omit<Run, 'apiVersion' | 'kind'> & { metadata: { name: string } } {
  return { metadata: { name }, spec: { runtime: runtimeName, mode: { task: { args: ['true'] } } } };
}

async function throughput(client: Client, ends: Ends, runtimeName: string, label: string): Promise<number> {
  const started = performance.now();
  let next = 0;
  const creator = async () => {
    for (let i = next++; i < RUNS; i = next++) await client.resource(RunKind, 'default').create(aRun(`${label}-${i}`, runtimeName));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, creator));
  const times = await Promise.all(Array.from({ length: RUNS }, (_, i) => ends.of(`${label}-${i}`)));
  return RUNS / ((Math.max(...times) - started) / 1000);
}

async function idleLatency(client: Client, ends: Ends, runtimeName: string, label: string): Promise<{ p50: number; p99: number }> {
  const latencies: number[] = [];
  for (let i = 0; i < IDLE_RUNS; i++) {
    await new Promise((resolve) => setTimeout(resolve, 30));
    const started = performance.now();
    await client.resource(RunKind, 'default').create(aRun(`${label}-${i}`, runtimeName));
    latencies.push((await ends.of(`${label}-${i}`)) - started);
  }
  latencies.sort((a, b) => a - b);
  return { p50: latencies[Math.floor(IDLE_RUNS / 2)], p99: latencies[Math.floor(IDLE_RUNS * 0.99)] };
}

/** Status writes that the audit log has for the Runs of one measurement. */
function writesPerRun(data: string, label: string): number {
  const lines = readFileSync(join(data, 'audit.log'), 'utf8').split('\n');
  return lines.filter((line) => line.includes(`/runs/${label}-`) && line.includes('"verb":"patch"')).length / RUNS;
}

async function main(): Promise<void> {
  console.log(calibrate());
  const data = mkdtempSync(join(tmpdir(), 'tenantry-bench-runs-'));
  const { child, client } = await startProduct(data);
  const stop = new AbortController();
  try {
    const ends = new Ends();
    await ends.follow(client, stop.signal);
    const rows: [string, string, string][] = [];
    const isolations =
      process.env['BENCH_ISOLATION'] === undefined ? (['shared', 'process'] as const) : [process.env['BENCH_ISOLATION'] as 'shared'];
    for (const isolation of isolations) {
      const name = `bench-${isolation}`;
      await client.resource(RuntimeKind, 'default').create(runtime(name, isolation));
      await client.resource(RunKind, 'default').create(aRun(`${isolation}-first`, name));
      await ends.of(`${isolation}-first`);
      await throughput(client, ends, name, `${isolation}-warm`);
      const bare = await bareSpawns(RUNS);
      const perSecond = await throughput(client, ends, name, `${isolation}-many`);
      const latency = await idleLatency(client, ends, name, `${isolation}-idle`);
      const bars = isolation === 'shared' ? ['>= 300 and >= 40 % of bare', '<= 12'] : ['>= 150', '<= 25'];
      rows.push([
        `${isolation}: Runs/s (bare spawns ${bare.toFixed(0)}/s)`,
        `${perSecond.toFixed(0)} (${((100 * perSecond) / bare).toFixed(0)} %)`,
        bars[0],
      ]);
      rows.push([
        `${isolation}: create to Succeeded, idle, p50 (ms)`,
        `${latency.p50.toFixed(1)} (p99 ${latency.p99.toFixed(1)})`,
        bars[1],
      ]);
      rows.push([`${isolation}: writes per Run after create`, writesPerRun(data, `${isolation}-many`).toFixed(2), '<= 3']);
    }
    for (const [what, value, bar] of rows) console.log(`${what.padEnd(56)}${value.padStart(20)}   bar ${bar}`);
  } finally {
    stop.abort();
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
    rmSync(data, { recursive: true, force: true });
  }
  console.log(calibrate());
}

await main();
process.exit(0);
