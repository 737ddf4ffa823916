// The embedded engine against a real kube-apiserver + etcd, in one run on one machine: same objects, same clients, both durable,
// both TLS and RBAC. Prints a line per measure with the ratio and the bar.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { binary } from '../../test/cluster/binaries.ts';
import { startControlPlane } from '../../test/cluster/control-plane.ts';
import { calibrate } from './calibration.ts';
import type { Target } from './http-client.ts';
import { Connection } from './http-client.ts';
import type { Result } from './load.ts';

const execute = promisify(execFile);
const here = dirname(fileURLToPath(import.meta.url));

interface Peer {
  name: string;
  /** Stops and starts again on the same data; milliseconds until it is ready. */
  restart?(): Promise<number>;
  target: Target;
  startMs: number;
  restMb: number;
  stop(): Promise<void>;
}

function residentMb(pids: number[]): number {
  let kb = 0;
  for (const pid of pids) kb += Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  return kb / 1024;
}

function processTree(root: number): number[] {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      parents.set(Number(entry), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It ended while we looked.
    }
  }
  const tree = [root];
  for (let i = 0; i < tree.length; i++) for (const [pid, parent] of parents) if (parent === tree[i]) tree.push(pid);
  return tree;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function startEmbedded(data: string): Promise<{ child: ChildProcess; startMs: number; kubeconfig: string }> {
  const started = performance.now();
  const child = spawn(process.execPath, ['bin/tenantry', 'up', '--data', data, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('kubeconfig')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`tenantry exited with ${code}`)));
  });
  return { child, startMs: performance.now() - started, kubeconfig: join(data, 'kubeconfig') };
}

/** A client that RBAC has to judge: a ServiceAccount bound to cluster-admin, with a token, made the same way on both. */
async function benchToken(kubeconfig: string): Promise<string> {
  const command = await binary('kubectl');
  const kubectl = (...args: string[]) => execute(command, ['--kubeconfig', kubeconfig, ...args]);
  await kubectl('create', 'namespace', 'bench');
  await kubectl('create', 'serviceaccount', 'bench', '-n', 'bench');
  await kubectl('create', 'clusterrolebinding', 'bench', '--clusterrole=cluster-admin', '--serviceaccount=bench:bench');
  return (await kubectl('create', 'token', 'bench', '-n', 'bench', '--duration=2h')).stdout.trim();
}

async function targetOf(kubeconfig: string): Promise<Target> {
  const config = parse(readFileSync(kubeconfig, 'utf8'));
  const { cluster } = config.clusters[0];
  const url = new URL(cluster.server);
  const ca = cluster['certificate-authority-data']
    ? Buffer.from(cluster['certificate-authority-data'], 'base64').toString('utf8')
    : readFileSync(cluster['certificate-authority'], 'utf8');
  return { host: url.hostname, port: Number(url.port), ca, token: await benchToken(kubeconfig) };
}

async function embedded(): Promise<Peer> {
  const data = mkdtempSync(join(tmpdir(), 'tenantry-bench-data-'));
  let { child, startMs, kubeconfig } = await startEmbedded(data);
  const end = async () => {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
  };
  await pause(3000);
  const restMb = residentMb(processTree(child.pid!));
  return {
    name: 'tenantry',
    target: await targetOf(kubeconfig),
    startMs,
    restMb,
    restart: async () => {
      await end();
      const again = await startEmbedded(data);
      child = again.child;
      return again.startMs;
    },
    stop: async () => {
      await end();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

async function real(): Promise<Peer> {
  const started = performance.now();
  const plane = await startControlPlane();
  const startMs = performance.now() - started;
  await pause(3000);
  const restMb = residentMb([plane.pids.etcd, plane.pids.apiserver]);
  return { name: 'kube-apiserver + etcd', target: await targetOf(plane.kubeconfig), startMs, restMb, stop: () => plane.stop() };
}

async function measure(peer: Peer, scenario: string, namespace: string, count: number): Promise<Result> {
  const encoded = Buffer.from(JSON.stringify(peer.target)).toString('base64');
  const { stdout } = await execute(process.execPath, [join(here, 'load.mjs'), scenario, encoded, namespace, String(count)], {
    maxBuffer: 1 << 24,
    timeout: 300_000,
  });
  return JSON.parse(stdout) as Result;
}

async function createNamespace(peer: Peer, name: string): Promise<void> {
  const connection = await Connection.open(peer.target);
  await connection.request('POST', '/api/v1/namespaces', JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
  connection.close();
  await pause(300);
}

type Measures = Record<string, number>;

/** One measure: taken several times on both sides, by turns, because the machine is rarely as quiet for one as for the other. */
interface Scenario {
  name: string;
  take(peer: Peer, round: number): Promise<number>;
}

const ROUNDS = 3;
const SCENARIOS: Record<string, Scenario> = {
  create: {
    name: 'creates/s',
    take: async (peer, round) => {
      await createNamespace(peer, `creates-${round}`);
      return (await measure(peer, 'create', `creates-${round}`, 8000)).perSecond!;
    },
  },
  get: { name: 'gets/s', take: async (peer) => (await measure(peer, 'get', 'measured', 20_000)).perSecond! },
  patch: { name: 'merge patches/s', take: async (peer) => (await measure(peer, 'patch', 'measured', 6000)).perSecond! },
  watch: { name: 'watch deliveries/s', take: async (peer) => (await measure(peer, 'watch', 'measured', 2000)).perSecond! },
  list: { name: 'list 2,000 by label (ms)', take: async (peer) => (await measure(peer, 'list', 'measured', 15)).milliseconds! },
};

/** Both sides get time to warm up: caches there, the optimising compiler here. */
async function prepare(peer: Peer): Promise<void> {
  await createNamespace(peer, 'warm');
  await measure(peer, 'create', 'warm', 8000);
  await measure(peer, 'patch', 'warm', 4000);
  await createNamespace(peer, 'measured');
  await measure(peer, 'create', 'measured', 2000);
}

/** The median of the rounds of each side. */
async function compare(peers: readonly Peer[], wanted: readonly string[]): Promise<Measures[]> {
  const results = peers.map((): Measures => ({}));
  for (const scenario of wanted) {
    const { name, take } = SCENARIOS[scenario];
    const taken = peers.map((): number[] => []);
    for (let round = 0; round < ROUNDS; round++) for (const [i, peer] of peers.entries()) taken[i].push(await take(peer, round));
    for (const [i, values] of taken.entries()) results[i][name] = values.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)];
  }
  for (const [i, peer] of peers.entries()) {
    results[i]['start to ready (ms)'] = peer.startMs;
    results[i]['memory at rest (MB)'] = peer.restMb;
  }
  return results;
}

/** What must not grow with unrelated objects, and what may: the time to read them all again. */
async function growth(peer: Peer, restart: () => Promise<number>, measures: Measures): Promise<void> {
  const createP50 = async (namespace: string) => {
    await createNamespace(peer, namespace);
    return (await measure(peer, 'create', namespace, 2000)).p50!;
  };
  measures['create p50, few objects (ms)'] = await createP50('few');
  for (let i = 0; i < 9; i++) {
    await createNamespace(peer, `bulk-${i}`);
    await measure(peer, 'create', `bulk-${i}`, 10_000);
  }
  measures['create p50, 100,000 objects (ms)'] = await createP50('many');
  measures['restart, 100,000 objects (ms)'] = await restart();
}

const BARS: Record<string, string> = {
  'creates/s': '>= 2.5x',
  'gets/s': '>= 2.5x',
  'merge patches/s': '>= 2.5x',
  'watch deliveries/s': '>= 2.5x',
  'list 2,000 by label (ms)': '<= 0.5x',
  'start to ready (ms)': '<= 600',
  'memory at rest (MB)': '<= 120',
  'create p50, 100,000 objects (ms)': 'as with few',
  'restart, 100,000 objects (ms)': '<= 3000',
};

/** `--only create,watch`: those measures alone, and not what grows. */
function wantedScenarios(): string[] | undefined {
  const at = process.argv.indexOf('--only');
  return at < 0 ? undefined : process.argv[at + 1].split(',').filter((name) => name in SCENARIOS);
}

console.log(calibrate());
const wanted = wantedScenarios();
const peers: Peer[] = [];
let results: Measures[];
try {
  for (const start of process.argv.includes('--embedded-only') ? [embedded] : [embedded, real]) peers.push(await start());
  for (const peer of peers) await prepare(peer);
  results = await compare(peers, wanted ?? Object.keys(SCENARIOS));
  const [tenantry, other] = peers;
  if (wanted === undefined) {
    await other?.stop();
    peers.length = 1;
    await growth(tenantry, tenantry.restart!, results[0]);
  }
} finally {
  for (const peer of peers) await peer.stop();
}
const [ours, theirs] = results as (Measures | undefined)[] as [Measures, Measures?];
console.log(`${'measure'.padEnd(34)}${'real'.padStart(12)}${'tenantry'.padStart(12)}${'ratio'.padStart(9)}  bar`);
for (const [name, value] of Object.entries(ours)) {
  const other = theirs?.[name];
  const ratio = other === undefined ? '' : `${(value / other).toFixed(2)}x`;
  const shown = other === undefined ? '' : other.toFixed(other < 100 ? 1 : 0);
  console.log(
    `${name.padEnd(34)}${shown.padStart(12)}${value.toFixed(value < 100 ? 1 : 0).padStart(12)}${ratio.padStart(9)}  ${BARS[name] ?? ''}`,
  );
}
console.log(calibrate());
