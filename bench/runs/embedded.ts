import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bareSpawns } from './bare-spawns.ts';
import { perRun, processorTimes } from './processor-time.ts';
import { withProduct, type Product } from './product.ts';
import { row } from './row.ts';
import { createRuntime, Ends, latencies, percentile, throughput } from './some-runs.ts';

const RUNS = Number(process.env['BENCH_RUNS'] ?? 1000);
/** A product that has served for a while: until then what it runs is being compiled. */
const WARM_UP_RUNS = 3000;
const IDLE_RUNS = 60;
const BARS = {
  shared: { perSecond: '>= 300 and >= 40 % of bare', idle: '<= 12' },
  process: { perSecond: '>= 150', idle: '<= 25' },
};

type Isolation = keyof typeof BARS;

/** Throughput, latency and writes on the embedded engine. `BENCH_ISOLATION`: of one isolation only. */
export async function benchEmbedded(options: string[]): Promise<void> {
  const chosen = process.env['BENCH_ISOLATION'] as Isolation | undefined;
  await withProduct(options, async (product) => {
    for (const isolation of chosen === undefined ? (['shared', 'process'] as const) : [chosen]) await benchIsolation(product, isolation);
  });
}

async function benchIsolation({ data, child, client }: Product, isolation: Isolation): Promise<void> {
  const runtime = `bench-${isolation}`;
  const ends = new Ends();
  const stop = new AbortController();
  const work = { client, namespace: 'default', ends, runtime };
  await ends.follow(client, 'default', stop.signal);
  await createRuntime(client, 'default', runtime, isolation);
  await throughput(work, `${isolation}-first`, 1);
  await throughput(work, `${isolation}-warm`, WARM_UP_RUNS);
  const bare = await bareSpawns(RUNS);
  const [before, own] = [processorTimes(child.pid!), process.cpuUsage()];
  const perSecond = await throughput(work, `${isolation}-many`, RUNS);
  const [after, ownUsed] = [processorTimes(child.pid!), process.cpuUsage(own)];
  const idle = await latencies(work, `${isolation}-idle`, IDLE_RUNS);
  stop.abort();
  const bars = BARS[isolation];
  row(
    `${isolation}: Runs/s (bare spawns ${bare.toFixed(0)}/s)`,
    `${perSecond.toFixed(0)} (${((100 * perSecond) / bare).toFixed(0)} %)`,
    bars.perSecond,
  );
  row(
    `${isolation}: create to Succeeded, idle, p50 (ms)`,
    `${percentile(idle, 0.5).toFixed(1)} (p99 ${percentile(idle, 0.99).toFixed(1)})`,
    bars.idle,
  );
  row(`${isolation}: writes per Run after create`, writesPerRun(data, `${isolation}-many`).toFixed(2), '<= 3');
  console.log(
    `${isolation}: processor time per Run (ms): ${perRun(before, after, RUNS)}, the benchmark itself ${((ownUsed.user + ownUsed.system) / 1000 / RUNS).toFixed(2)}`,
  );
}

/** Status writes that the audit log has for the Runs of one measurement. */
function writesPerRun(data: string, label: string): number {
  const lines = readFileSync(join(data, 'audit.log'), 'utf8').split('\n');
  return lines.filter((line) => line.includes(`/runs/${label}-`) && line.includes('"verb":"patch"')).length / RUNS;
}
