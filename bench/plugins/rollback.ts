import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PluginInstallationKind, type PluginInstallation } from '../../src/api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { sampleFiles } from '../../src/cli/plugin/sample-plugin.ts';
import type { Client } from '../../src/client/client.ts';
import { ConfigMap, Secret } from '../../src/client/kinds.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { pushPluginImage } from '../../test/cluster/plugin-image.ts';
import { startEngineProcess } from '../tenancy/engine-process.ts';
import { percentile, processorMs } from '../tenancy/figures.ts';
import { PluginBench } from './plugin-bench.ts';

const PER_SECOND = 200;
const BAR_MS = 15_000;
const PLUGIN = 'small';

/** 200 requests a second through the gateway, to real containers, while a plugin is upgraded and rolled back: how many fail, how long it takes. */
export async function benchRollback(): Promise<void> {
  const bench = await PluginBench.start();
  const sample = mkdtempSync(join(tmpdir(), 'tenantry-bench-sample-'));
  for (const [name, text] of Object.entries(sampleFiles({ name: PLUGIN, publisher: 'acme', image: 'x' }))) {
    mkdirSync(join(sample, name, '..'), { recursive: true });
    writeFileSync(join(sample, name), text);
  }
  const engine = await startEngineProcess(bench.data, ['--gateway-port', '0'], 'auto');
  try {
    const { client } = engine;
    await bench.publisher(client);
    for (const version of ['1.0.0', '1.1.0']) {
      appendFileSync(join(sample, 'server.mjs'), `// ${version}\n`);
      pushPluginImage(bench.registry, `acme/${PLUGIN}`, version, sample);
      await bench.publish(client, PLUGIN, {}, {}, version);
    }
    await bench.tenant(client, 'school');
    await bench.install(client, 'school', PLUGIN);
    const load = startLoad(await gatewayUrl(client), await tokenOf(client));
    const gateway = childOf(engine.pid, 'plugin-gateway.js');
    const before = processorMs(gateway);
    await seconds(3);
    const upgrade = await timed(() =>
      change(client, { version: '1.1.0' }, ({ status }) => status?.phase === 'ACTIVE' && status.version === '1.1.0'),
    );
    await seconds(3);
    const rollback = await timed(() => change(client, { rollback: { request: 1 } }, ({ status }) => status?.phase === 'ROLLED_BACK'));
    await seconds(3);
    const { times, failures } = await load.stop();
    console.log(
      `upgrade (rolling): ${upgrade.toFixed(0)} ms; rollback, the old version started anew (bar ${BAR_MS} ms): ${rollback.toFixed(0)} ms`,
    );
    console.log(`requests at ${PER_SECOND}/s meanwhile: ${times.length + failures.length}, failed (bar 0): ${failures.length}`);
    console.log(
      `processor time of the gateway for each: ${((processorMs(gateway) - before) / (times.length + failures.length)).toFixed(2)} ms`,
    );
    console.log(`memory of the gateway: ${(residentKilobytes(gateway) / 1024).toFixed(0)} MB`);
    const at = (share: number): string => `${percentile(times, share).toFixed(1)} ms`;
    console.log(`they took: median ${at(0.5)}, p99 ${at(0.99)}, most ${Math.max(...times).toFixed(0)} ms`);
    for (const [what, count] of counted(failures)) console.log(`  ${count} x ${what}`);
  } finally {
    await engine.stop();
    await bench.stop();
    rmSync(sample, { recursive: true, force: true });
  }
}

function residentKilobytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
}

function childOf(pid: number, program: string): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  return children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes(program))!;
}

interface Load {
  stop(): Promise<{ times: number[]; failures: string[] }>;
}

/** As many in every moment, whether or not those before were answered. */
function startLoad(url: string, token: string): Load {
  const agent = new Agent({ keepAlive: true });
  const under = new Set<Promise<void>>();
  const times: number[] = [];
  const failures: string[] = [];
  const started = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    for (const due = ((performance.now() - started) * PER_SECOND) / 1000; sent < due; sent++) {
      const began = performance.now();
      const asked = post(agent, `${url}/school/${PLUGIN}/mcp/hello`, token)
        .then((status) => void (status === 200 ? times.push(performance.now() - began) : failures.push(`status ${status}`)))
        .catch((error: unknown) => void failures.push(`${String(error)} after ${Math.round((performance.now() - began) / 1000)} s`))
        .finally(() => under.delete(asked));
      under.add(asked);
    }
  }, 5);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(under);
      agent.destroy();
      return { times, failures };
    },
  };
}

function post(agent: Agent, url: string, token: string): Promise<number> {
  const body = JSON.stringify({ name: 'Ada' });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': body.length };
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: 'POST', headers, agent, timeout: 30_000 }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode!));
      response.once('error', reject);
    });
    request.once('error', reject);
    request.end(body);
  });
}

async function gatewayUrl(client: Client): Promise<string> {
  for (;;) {
    const found = await client
      .resource<KubeObject>(ConfigMap, 'tenantry-system')
      .get('plugin-gateway')
      .catch(() => undefined);
    if (found) return found.data.url as string;
    await seconds(0.1);
  }
}

async function tokenOf(client: Client): Promise<string> {
  const secret = await client.resource<KubeObject>(Secret, `plugin-school-${PLUGIN}`).get('plugin-token');
  return Buffer.from(secret.data.token, 'base64').toString();
}

async function change(client: Client, spec: object, isDone: (installation: PluginInstallation) => boolean): Promise<void> {
  const resource = client.resource(PluginInstallationKind, 'school');
  const changed = await resource.patch(PLUGIN, { type: 'merge', patch: { spec } });
  const { resourceVersion, generation } = changed.metadata;
  for await (const update of resource.watch({ fieldSelector: `metadata.name=${PLUGIN}`, resourceVersion })) {
    if ('object' in update && update.object.status?.observedGeneration === generation && isDone(update.object)) return;
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function seconds(count: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, count * 1000));
}

function counted(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
