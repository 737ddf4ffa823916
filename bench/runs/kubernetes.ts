import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WORKSPACE_PATH } from '../../src/api/kruntimes.io/v1alpha1/names.ts';
import { RunKind } from '../../src/api/kruntimes.io/v1alpha1/run.ts';
import { createClient, type Client } from '../../src/client/client.ts';
import { connectContext } from '../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../src/client/config/kubeconfig.ts';
import { Pod, ServiceAccount } from '../../src/client/kinds.ts';
import { startControlPlane, type ControlPlane } from '../../test/cluster/control-plane.ts';
import { bareSpawns } from './bare-spawns.ts';
import { perRun, processorTimes } from './processor-time.ts';
import { row } from './row.ts';
import { aRun, CONCURRENCY, Ends, latencies, percentile, throughput } from './some-runs.ts';

const RUNS = Number(process.env['BENCH_RUNS'] ?? 1000);
const WARM_UP_RUNS = 3000;
const IDLE_RUNS = 60;
const RUNTIME = 'bench';
const POD = 'bench-0';
const SERVER_PORT = 19091;

/** Throughput on a real kube-apiserver and etcd. There is no kubelet: the programs of the Runtime Pod are started here. */
export async function benchKubernetes(): Promise<void> {
  const plane = await startControlPlane();
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-bench-kubernetes-'));
  const children: ChildProcess[] = [];
  const stop = new AbortController();
  try {
    children.push(
      start(['bin/tenantry', 'controller', '--area', 'runs', '--kubeconfig', plane.kubeconfig, '--bind-address', '127.0.0.1:0'], {}),
    );
    const client = createClient(await connectContext(resolveContext(await loadKubeconfig({ path: plane.kubeconfig }))));
    await createPod(client);
    children.push(...startPrograms(plane, folder));
    const ends = new Ends();
    await eventually(() => ends.follow(client, 'default', stop.signal));
    const work = { client, namespace: 'default', ends, runtime: RUNTIME };
    await eventually(() => throughput(work, `first-${Date.now()}`, 1));
    await policyIsInForce(client);
    await throughput(work, 'warm', WARM_UP_RUNS);
    const bare = await bareSpawns(RUNS);
    const before = processorTimes(process.pid);
    const perSecond = await throughput(work, 'many', RUNS);
    const after = processorTimes(process.pid);
    const idle = await latencies(work, 'idle', IDLE_RUNS);
    row(
      `kube-apiserver and etcd: Runs/s (bare spawns ${bare.toFixed(0)}/s)`,
      `${perSecond.toFixed(0)} (${((100 * perSecond) / bare).toFixed(0)} %)`,
      '>= 140',
    );
    row('kube-apiserver and etcd: idle, p50 (ms)', `${percentile(idle, 0.5).toFixed(1)} (p99 ${percentile(idle, 0.99).toFixed(1)})`, '');
    console.log(`processor time per Run (ms): ${perRun(before, after, RUNS)}`);
  } finally {
    stop.abort();
    for (const child of children.toReversed()) await end(child);
    await plane.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As the Runtime's controller makes it and a kubelet reports it. */
async function createPod(client: Client): Promise<void> {
  await eventually(() => client.resource(ServiceAccount, 'default').create({ metadata: { name: 'default' } }));
  await client.resource(Pod, 'default').create({
    metadata: { name: POD, labels: { runtime: RUNTIME }, annotations: { 'kruntimes.io/capacity.runs': String(CONCURRENCY) } },
    spec: { containers: [{ name: 'runtime', image: 'example/none' }], automountServiceAccountToken: false, schedulerName: 'nobody' },
  });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await client.resource(Pod, 'default').status.patch(POD, { type: 'merge', patch: { status } });
}

/** A policy refuses everything for a while after it was made: the server has to learn of its parameters. */
async function policyIsInForce(client: Client): Promise<void> {
  const create = () => client.resource(RunKind, 'default').create(aRun('tried', RUNTIME), { dryRun: true });
  for (let i = 0; i < 20; i++) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    await eventually(create);
  }
}

function startPrograms(plane: ControlPlane, folder: string): ChildProcess[] {
  const secrets = join(folder, 'var/run/secrets/kubernetes.io/serviceaccount');
  mkdirSync(secrets, { recursive: true });
  mkdirSync(join(folder, WORKSPACE_PATH), { recursive: true });
  for (const [name, text] of [
    ['token', plane.adminToken],
    ['ca.crt', plane.ca],
    ['namespace', 'default'],
  ])
    writeFileSync(join(secrets, name), text);
  const { hostname, port } = new URL(plane.url);
  const env = {
    TENANTRY_ROOT: folder,
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
    POD_NAME: POD,
    POD_NAMESPACE: 'default',
    POD_IP: '127.0.0.1',
  };
  const server = ['dist/runtime-server.js', 'bash', '--port', String(SERVER_PORT), '--warm-workers', String(CONCURRENCY)];
  const runtimed = ['dist/runtimed.js', '--runtime-name', RUNTIME, '--runtime-endpoint', `127.0.0.1:${SERVER_PORT}`];
  const addresses = ['--status-addr', '127.0.0.1:0', '--health-probe-bind-address', '127.0.0.1:0', '--metrics-bind-address', '127.0.0.1:0'];
  return [start(server, env), start([...runtimed, ...addresses], env)];
}

function start(args: string[], env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exited;
}

/** Until the definitions are there, and what follows them. */
async function eventually<T>(work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}
