// How long a Pod takes to run and to be gone, and what 200 of them cost at rest. `tenantry up` as a user starts it, asked over HTTPS.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '../../src/client/client.ts';
import { certificateCredentials } from '../../src/client/config/credentials.ts';
import { createHttpTransport } from '../../src/client/http/http-transport.ts';
import { Pod } from '../../src/client/kinds.ts';
import type { KubeObject } from '../../src/kube/object.ts';

const ROUNDS = 40;
const CROWD = 200;
const REST_MS = 20_000;

interface Bars {
  start: number;
  end: number;
}

const BARS: Record<string, Bars> = { process: { start: 60, end: 200 }, oci: { start: 300, end: 200 } };

/** `process` and `oci`, or the one that is named; `--no-crowd` leaves the 200 Pods out. */
export async function benchPods(args: string[]): Promise<void> {
  const named = args.filter((arg) => !arg.startsWith('--'));
  const drivers = named.length > 0 ? named : ['process', ...(process.getuid?.() === 0 ? ['oci'] : [])];
  console.log(`${'measure'.padEnd(44)}${'value'.padStart(10)}  bar`);
  for (const driver of drivers) await measure(driver, BARS[driver], !args.includes('--no-crowd'));
}

async function measure(driver: string, bars: Bars, withCrowd: boolean): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'tenantry-bench-node-'));
  const up = await startUp(data, driver);
  const client = connect(up.url, data);
  const seen = new Sightings(client);
  try {
    await eventually(async () => (await client.resource(Pod, 'default').list()).items.length === 0);
    // The first Pod starts the agent, the shim and, for containers, the first look at the runtime.
    const first = await lifeOf(client, seen, 'first');
    show(`${driver}: first Pod, agent included (ms)`, first.startMs, '');
    const lives: { startMs: number; endMs: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) lives.push(await lifeOf(client, seen, `pod-${round}`));
    const starts = lives.map(({ startMs }) => startMs);
    const ends = lives.map(({ endMs }) => endMs);
    show(`${driver}: created to running, p50 (ms)`, quantile(starts, 0.5), `<= ${bars.start}`);
    show(`${driver}: created to running, p95 (ms)`, quantile(starts, 0.95), '');
    show(`${driver}: deleted to gone, p50 (ms)`, quantile(ends, 0.5), `<= ${bars.end}`);
    show(`${driver}: deleted to gone, p95 (ms)`, quantile(ends, 0.95), '');
    if (withCrowd) await crowd(client, seen, up.child, driver);
  } finally {
    seen.stop();
    await client.close();
    up.child.kill('SIGTERM');
    await new Promise((resolve) => void up.child.once('exit', resolve));
    rmSync(data, { recursive: true, force: true });
  }
}

async function lifeOf(client: Client, seen: Sightings, name: string): Promise<{ startMs: number; endMs: number }> {
  const running = seen.of(name, (pod) => pod?.status?.phase === 'Running');
  const created = performance.now();
  await client.resource(Pod, 'default').create(sleeper(name));
  const startMs = (await running) - created;
  // The shell needs a moment to set its trap: the first process of a container does not hear what it does not listen for.
  await pause(100);
  const gone = seen.of(name, (pod) => pod === undefined);
  const deleted = performance.now();
  await client.resource(Pod, 'default').delete(name);
  return { startMs, endMs: (await gone) - deleted };
}

/** A program that ends as soon as it is told to. */
function sleeper(name: string): { metadata: { name: string }; spec: unknown } {
  const container = { name: 'c', image: 'tenantry.dev/tools', command: ['sh', '-c', 'trap "exit 0" TERM; sleep 3600 & wait'] };
  return { metadata: { name }, spec: { containers: [container], terminationGracePeriodSeconds: 5, automountServiceAccountToken: false } };
}

async function crowd(client: Client, seen: Sightings, up: ChildProcess, driver: string): Promise<void> {
  const began = performance.now();
  const names = Array.from({ length: CROWD }, (_, index) => `crowd-${index}`);
  const running = Promise.all(names.map((name) => seen.of(name, (pod) => pod?.status?.phase === 'Running')));
  for (const name of names) await client.resource(Pod, 'default').create(sleeper(name));
  await running;
  show(`${driver}: ${CROWD} Pods running after (ms)`, performance.now() - began, '');
  await pause(5000);
  const agent = childNamed(up.pid!, 'node.js');
  const before = cpuSeconds(agent);
  await pause(REST_MS);
  show(`${driver}: agent with ${CROWD} Pods at rest (% core)`, ((cpuSeconds(agent) - before) / (REST_MS / 1000)) * 100, '<= 5');
  show(`${driver}: agent with ${CROWD} Pods (MB)`, residentMb(agent), '');
  const ended = performance.now();
  const gone = Promise.all(names.map((name) => seen.of(name, (pod) => pod === undefined)));
  await client.resource(Pod, 'default').deleteCollection();
  await gone;
  show(`${driver}: ${CROWD} Pods gone after (ms)`, performance.now() - ended, '');
}

/** Follows all Pods of the namespace and tells when one is as somebody wants it. */
class Sightings {
  #waiting = new Map<string, { wanted: (pod: KubeObject | undefined) => boolean; seen: (at: number) => void }>();
  #stop = new AbortController();

  constructor(client: Client) {
    void this.#follow(client);
  }

  of(name: string, wanted: (pod: KubeObject | undefined) => boolean): Promise<number> {
    return new Promise((seen) => this.#waiting.set(name, { wanted, seen }));
  }

  stop(): void {
    this.#stop.abort();
  }

  async #follow(client: Client): Promise<void> {
    for await (const update of client.resource(Pod, 'default').watch({ sendInitialEvents: true, signal: this.#stop.signal })) {
      if (update.type !== 'ADDED' && update.type !== 'MODIFIED' && update.type !== 'DELETED') continue;
      const { name } = update.object.metadata;
      const waiting = this.#waiting.get(name!);
      if (!waiting?.wanted(update.type === 'DELETED' ? undefined : update.object)) continue;
      this.#waiting.delete(name!);
      waiting.seen(performance.now());
    }
  }
}

async function startUp(data: string, driver: string): Promise<{ child: ChildProcess; url: string }> {
  const args = [
    'bin/tenantry',
    'up',
    '--data',
    data,
    '--port',
    '0',
    '--node',
    driver,
    ...(process.env.BENCH_NETWORK ? ['--node-network', process.env.BENCH_NETWORK] : []),
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const found = /ready at (https:\S+)/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`tenantry exited with ${code}`)));
  });
  return { child, url };
}

function connect(url: string, data: string): Client {
  const pem = (file: string) => readFileSync(join(data, 'pki', file), 'utf8');
  const pair = { cert: pem('admin.crt'), key: pem('admin.key') };
  const credentials = certificateCredentials(() => Promise.resolve(pair));
  return createClient(createHttpTransport({ endpoint: { url: new URL(url) }, ca: () => Promise.resolve(pem('ca.crt')), credentials }));
}

function childNamed(parent: number, program: string): number {
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const isChild = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent;
      if (isChild && readFileSync(`/proc/${entry}/cmdline`, 'utf8').includes(`/${program}\0`)) return Number(entry);
    } catch {
      // It ended while we looked.
    }
  }
  throw new Error(`Cannot find ${program} among the children of ${parent}: it does not run`);
}

function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
}

function show(name: string, value: number, bar: string): void {
  console.log(`${name.padEnd(44)}${value.toFixed(value < 100 ? 1 : 0).padStart(10)}  ${bar}`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(20);
}
