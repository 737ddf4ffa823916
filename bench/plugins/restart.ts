import { PluginInstallationKind } from '../../src/api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import type { Client } from '../../src/client/client.ts';
import {
  Deployment,
  HorizontalPodAutoscaler,
  LimitRange,
  Namespace,
  NetworkPolicy,
  Node,
  Pod,
  ResourceQuota,
  Secret,
  Service,
  ServiceAccount,
} from '../../src/client/kinds.ts';
import type { Kind } from '../../src/kube/kind.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { processorTimes } from '../runs/processor-time.ts';
import { startEngineProcess, type EngineProcess } from '../tenancy/engine-process.ts';
import { PluginBench, spread } from './plugin-bench.ts';

const TENANTS = 50;
const PLUGINS = ['one', 'two', 'three', 'stored'];
const BAR_MS = 10_000;
/** Installed together, as a platform would. */
const AT_ONCE = 8;

/** 200 installations of 50 tenants, a quarter with a database, after a restart: until all were looked at, and what was written meanwhile. */
export async function benchRestart(): Promise<void> {
  const bench = await PluginBench.start();
  let engine = await startEngineProcess(bench.data, []);
  try {
    const started = performance.now();
    const times = await prepare(bench, engine);
    console.log(`${times.length} installations in ${((performance.now() - started) / 1000).toFixed(0)} s: ${spread(times)} each`);
    await quiet(engine.client);
    const before = await states(engine.client);
    await engine.stop();
    const restarted = performance.now();
    engine = await startEngineProcess(bench.data, []);
    const ready = performance.now() - restarted;
    await keepAlive(engine.client);
    const took = await untilReconciled(engine.client, times.length, restarted);
    const used = processorTimes(engine.pid);
    await quiet(engine.client);
    const after = await states(engine.client);
    const written = [...after].filter(([key, version]) => before.get(key) !== version).map(([key]) => key);
    console.log(`ready again after ${ready.toFixed(0)} ms; all ${times.length} reconciled after ${took.toFixed(0)} ms (bar ${BAR_MS} ms)`);
    console.log(
      `processor time until then: ${[...used]
        .filter(([, ms]) => ms > 50)
        .map(([name, ms]) => `${name} ${ms} ms`)
        .join(', ')}`,
    );
    console.log(`objects of plugins: ${after.size}, written meanwhile: ${written.length} ${written.slice(0, 5).join(' ')}`);
  } finally {
    await engine.stop();
    await bench.stop();
  }
}

async function prepare(bench: PluginBench, { client }: EngineProcess): Promise<number[]> {
  await bench.publisher(client);
  await playNode(client);
  const files = { 'db/001_notes.sql': 'CREATE TABLE notes (text text)' };
  for (const plugin of PLUGINS) {
    bench.registry.push(`acme/${plugin}`, '1.0.0', { layers: [[{ name: 'app', content: plugin }]], config: { User: '10001' } });
    await bench.publish(client, plugin, plugin === 'stored' ? { database: { migrations: { path: 'db' } } } : {}, files);
  }
  const times: number[] = [];
  const tenants = Array.from({ length: TENANTS }, (_, index) => `t${index}`);
  const work = async (): Promise<void> => {
    for (let tenant = tenants.shift(); tenant !== undefined; tenant = tenants.shift()) {
      await bench.tenant(client, tenant);
      for (const plugin of PLUGINS) times.push(await bench.install(client, tenant, plugin));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return times;
}

/** No container has to run for this: every Pod is told to be ready as soon as it is there. */
async function playNode(client: Client): Promise<void> {
  const nodes = client.resource<KubeObject>(Node);
  await nodes.create({ metadata: { name: 'played' } });
  await keepAlive(client);
  await nodes.patch('played', { type: 'merge', patch: { spec: { taints: null } } });
  const follow = async (): Promise<void> => {
    for await (const update of client.resource<KubeObject>(Pod).watch({})) if ('object' in update) await readyPod(client, update.object);
  };
  follow().catch(() => {});
}

/** A node that says nothing for long is taken for dead. */
async function keepAlive(client: Client): Promise<void> {
  const capacity = { cpu: '1000', memory: '1Ti', pods: '1000' };
  const beat = (): Promise<KubeObject> => {
    const conditions = [{ type: 'Ready', status: 'True', reason: 'Played', message: '', lastHeartbeatTime: new Date().toISOString() }];
    const patch = { status: { capacity, allocatable: capacity, conditions } };
    return client.resource<KubeObject>(Node).status.patch('played', { type: 'merge', patch });
  };
  await beat();
  setInterval(() => void beat().catch(() => {}), 5_000).unref();
}

async function readyPod(client: Client, { metadata, spec, status }: KubeObject): Promise<void> {
  const pods = client.resource<KubeObject>(Pod, metadata.namespace);
  const patch = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
  if (spec?.nodeName && status?.phase !== 'Running') await pods.status.patch(metadata.name!, { type: 'strategic', patch }).catch(() => {});
}

const KINDS: Kind[] = [
  Namespace,
  Secret,
  ServiceAccount,
  ResourceQuota,
  LimitRange,
  NetworkPolicy,
  Deployment,
  Service,
  HorizontalPodAutoscaler,
];

/** What plugins consist of, by revision; tokens are renewed by time. */
async function states(client: Client): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const kind of [...KINDS, PluginInstallationKind as Kind]) {
    for (const { metadata } of (await client.resource(kind).listAll()).items) {
      const isOfPlugin =
        [metadata.namespace, metadata.name].some((name) => name?.startsWith('plugin-')) || kind.kind === 'PluginInstallation';
      if (isOfPlugin && metadata.name !== 'plugin-token')
        found.set(`${kind.kind} ${metadata.namespace ?? ''}/${metadata.name}`, metadata.resourceVersion!);
    }
  }
  return found;
}

/** By the controller's own counters: whoever has nothing to write is seen nowhere else. */
async function untilReconciled(client: Client, installations: number, since: number): Promise<number> {
  for (;;) {
    const text = await metricsOf(client);
    const total = sum(text, /^tenantry_controller_reconcile_total\{controller="plugin-installation"[^}]*\} (\d+)/gm);
    const waiting = sum(text, /^tenantry_controller_(?:queue_depth|active)\{controller="plugin-installation"\} (\d+)/gm);
    if (total >= installations && waiting === 0) return performance.now() - since;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function quiet(client: Client): Promise<void> {
  let before = '';
  for (let same = 0; same < 4;) {
    const text =
      (await metricsOf(client)).match(/^tenantry_controller_reconcile_total\{controller="plugin-installation".*$/gm)?.join('\n') ?? '';
    same = text === before ? same + 1 : 0;
    before = text;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function metricsOf(client: Client): Promise<string> {
  return String(await client.request({ method: 'GET', path: '/metrics' }));
}

function sum(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].reduce((all, [, value]) => all + Number(value), 0);
}
