// The durable store: writes per second by concurrency, restart with 100,000 objects of 2 KB, memory, and what a range costs.
// Beside it what the disk alone can do, measured in the same run: `npm run bench -- store [directory]`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type DurableStore, openStore } from '../src/engine/store/durable-store.ts';

const VALUE_BYTES = 2048;
const KEYS = 10_000;
const RESTART_KEYS = 100_000;
const SECONDS = 3;

const OPEN = '--open';

const root = process.argv[2] === OPEN ? '' : mkdtempSync(join(process.argv[2] ?? tmpdir(), 'tenantry-bench-'));
const value = Buffer.alloc(VALUE_BYTES, 'x');
const encode = () => ({ bytes: Buffer.from(value) });
const keyOf = (n: number) => `/registry/configmaps/default/object-${String(n).padStart(8, '0')}`;
const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;

function percentile(sorted: readonly number[], fraction: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))];
}

async function calibrate(): Promise<number> {
  const file = await open(join(root, 'calibration'), 'w');
  const times: number[] = [];
  for (let i = 0; i < 500; i++) {
    const started = performance.now();
    await file.write(value, 0, VALUE_BYTES, i * VALUE_BYTES);
    await file.datasync();
    times.push(performance.now() - started);
  }
  await file.close();
  times.sort((a, b) => a - b);
  console.log(
    `disk alone: write + fdatasync of 2 KB p50 ${percentile(times, 0.5).toFixed(3)} ms, p99 ${percentile(times, 0.99).toFixed(3)} ms`,
  );
  return 1000 / percentile(times, 0.5);
}

async function measureWrites(store: DurableStore, concurrency: number, diskRate: number): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const latencies: number[] = [];
  const end = performance.now() + SECONDS * 1000;
  const before = store.stats();
  delay.enable();
  const writer = async (number: number) => {
    for (let n = number; performance.now() < end; n += concurrency) {
      const key = keyOf((n * 7919) % KEYS);
      const started = performance.now();
      await store.put(key, store.latest(key)?.revision ?? 0, encode);
      latencies.push(performance.now() - started);
    }
  };
  const cpu = process.cpuUsage();
  await Promise.all(Array.from({ length: concurrency }, (_, number) => writer(number)));
  const used = process.cpuUsage(cpu);
  delay.disable();
  const after = store.stats();
  latencies.sort((a, b) => a - b);
  const rate = latencies.length / SECONDS;
  console.log(
    `${String(concurrency).padStart(4)} writers: ${Math.round(rate)} writes/s (${(rate / diskRate).toFixed(2)}x the disk alone), ` +
      `p50 ${percentile(latencies, 0.5).toFixed(2)} ms, p99 ${percentile(latencies, 0.99).toFixed(2)} ms, ` +
      `${((after.writes - before.writes) / (after.commits - before.commits)).toFixed(1)} writes per commit, ` +
      `${((used.user + used.system) / latencies.length).toFixed(1)} us CPU each, loop delay max ${(delay.max / 1e6).toFixed(1)} ms`,
  );
}

async function measureRestart(): Promise<void> {
  const directory = join(root, 'restart');
  const store = await openStore(directory);
  for (let n = 0; n < RESTART_KEYS; n += 1000) {
    await Promise.all(Array.from({ length: 1000 }, (_, i) => store.put(keyOf(n + i), 0, encode)));
  }
  const { logBytes, snapshotBytes } = store.stats();
  await store.close();
  console.log(
    `restart with ${RESTART_KEYS} objects, as the load left it (${megabytes(snapshotBytes)} snapshot, ${megabytes(logBytes)} log):`,
  );
  openInNewProcess(directory);
  const again = await openStore(directory);
  await again.snapshot();
  await again.close();
  console.log(`restart with ${RESTART_KEYS} objects, from a snapshot alone:`);
  openInNewProcess(directory);
}

/** Each start in a process of its own, as a restart is. */
function openInNewProcess(directory: string): void {
  for (let i = 0; i < 3; i++) spawnSync(process.execPath, [process.argv[1], OPEN, directory], { stdio: 'inherit' });
}

async function measureOpen(directory: string): Promise<void> {
  const before = process.memoryUsage().rss;
  const started = performance.now();
  const store = await openStore(directory);
  const took = performance.now() - started;
  const { rss, heapUsed } = process.memoryUsage();
  console.log(
    `  ${Math.round(took)} ms, +${megabytes(rss - before)} rss for ${megabytes(store.stats().liveBytes)} of data, ${megabytes(heapUsed)} heap`,
  );
  measureRanges(store);
  await store.close();
}

function measureRanges(store: DurableStore): void {
  const actions: [string, () => unknown][] = [
    ['range of all', () => store.range('/registry/').entries.length],
    ['range of 500', () => store.range('/registry/', { after: keyOf(50_000), limit: 500 }).entries.length],
    ['count', () => store.count('/registry/')],
    ['get', () => store.get(keyOf(77_777))!.revision],
  ];
  const results = actions.map(([what, action]) => {
    const times = Array.from({ length: 50 }, () => {
      const started = performance.now();
      action();
      return performance.now() - started;
    });
    times.sort((a, b) => a - b);
    return `${what} ${(percentile(times, 0.5) * 1000).toFixed(1)} us`;
  });
  console.log(`    ${results.join(', ')}`);
}

async function measureAll(): Promise<void> {
  const diskRate = await calibrate();
  const store = await openStore(join(root, 'writes'));
  for (const concurrency of [1, 16, 256]) await measureWrites(store, concurrency, diskRate);
  await store.close();
  await measureRestart();
}

if (process.argv[2] === OPEN) {
  await measureOpen(process.argv[3]);
} else {
  try {
    await measureAll();
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
