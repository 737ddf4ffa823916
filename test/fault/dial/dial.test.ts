import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RunKind, type Run } from '../../../src/api/kruntimes.io/v1alpha1/run.ts';
import { isTerminal, phaseOf } from '../../../src/api/kruntimes.io/v1alpha1/run-state.ts';
import { KUBECONFIG_KEY, kubeconfigSecretOf } from '../../../src/api/tenantry.dev/v1alpha1/cluster-names.ts';
import { TenantClusterKind } from '../../../src/api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { createClient, type Client } from '../../../src/client/client.ts';
import { connectContext } from '../../../src/client/config/connect.ts';
import { parseKubeconfig } from '../../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../../src/client/config/kubeconfig.ts';
import { Pod, Secret } from '../../../src/client/kinds.ts';
import { isStatusError } from '../../../src/kube/status.ts';
import { TenantWorld } from '../../conformance/tenancy/tenant-world.ts';
import { RuntimePodHere } from '../../integration/runs/runs-world.ts';
import { spawnEngine, type SpawnedEngine } from '../../support/spawned-engine.ts';

const RUNS = 60;
const NAMESPACE = 'acme--dev';

let data: string;
let counts: string;
let engine: SpawnedEngine;
let world: TenantWorld;
let args: string[];
const pods: RuntimePodHere[] = [];
const clients: Client[] = [];

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'tenantry-dial-'));
  counts = mkdtempSync(join(tmpdir(), 'tenantry-dial-counts-'));
  args = ['--port', String(await freePort()), '--node', 'none'];
  engine = await spawnEngine(data, { args });
  world = await TenantWorld.over(engine.target);
  await world.tenant('acme');
  await world.namespace('acme', NAMESPACE);
  await podFor(world.client, 'host-pod');
}, 90_000);
afterAll(async () => {
  await Promise.all(pods.map((pod) => pod.stop()));
  const cluster = await world.find(() => world.client.resource(TenantClusterKind, 'acme').get('acme'));
  if (cluster) {
    await world.patch('acme', { isolation: 'Namespace' });
    await world.eventually(
      async () => (await world.find(() => world.client.resource(TenantClusterKind, 'acme').get('acme'))) === undefined,
    );
  }
  await Promise.all(clients.map((client) => client.close()));
  await world?.stop();
  await engine?.stop();
  for (const folder of [data, counts]) rmSync(folder, { recursive: true, force: true });
}, 90_000);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}

async function podFor(client: Client, name: string): Promise<void> {
  await client.resource(Pod, NAMESPACE).create({
    metadata: { name, labels: { runtime: 'here' }, annotations: { 'kruntimes.io/capacity.runs': '4' } },
    spec: { containers: [{ name: 'runtime', image: 'example/none' }], schedulerName: 'nobody' },
  });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await client.resource(Pod, NAMESPACE).status.patch(name, { type: 'merge', patch: { status } });
  const pod = new RuntimePodHere(client, name, join(data, name), undefined, undefined, NAMESPACE);
  await pod.startServer();
  await pod.startRuntimed();
  pods.push(pod);
}

async function podInside(): Promise<void> {
  const secret = await world.eventually(() => world.find(() => world.client.resource(Secret, 'acme').get(kubeconfigSecretOf('acme'))));
  const text = Buffer.from(secret.data![KUBECONFIG_KEY], 'base64').toString('utf8');
  const client = createClient(await connectContext(resolveContext(await parseKubeconfig(text))));
  clients.push(client);
  await world.eventually(async () => {
    try {
      await podFor(client, 'cluster-pod');
      return true;
    } catch (error) {
      if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) return undefined;
      throw error;
    }
  });
}

/** Whatever answers, and however often it takes. */
async function persistently<T>(ask: () => Promise<T>): Promise<T> {
  return world.eventually(() =>
    ask().catch((error: unknown) => {
      if (isStatusError(error) && !isStatusError(error, 'InternalError') && !isStatusError(error, 'ServiceUnavailable')) throw error;
      return undefined as T;
    }),
  );
}

const LAST = `run-${RUNS - 1}`;

async function create(name: string): Promise<void> {
  const program = `echo started >> ${counts}/${name}; sleep 0.3`;
  const run = { metadata: { name }, spec: { runtime: 'here', mode: { task: { args: [program] } } } };
  await persistently(async () => {
    try {
      await world.client.resource(RunKind, NAMESPACE).create(run);
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error;
    }
    return true;
  });
}

async function submit(): Promise<void> {
  for (let index = 0; index < RUNS - 1; index++) {
    await create(`run-${index}`);
    await pause(100);
  }
}

/** Every end that was ever seen of each Run. */
const ends = new Map<string, Set<string>>();

function note(runs: readonly Run[]): void {
  for (const run of runs) {
    const seen = ends.get(run.metadata.name!) ?? new Set<string>();
    ends.set(run.metadata.name!, seen);
    if (isTerminal(phaseOf(run)) || seen.size > 0) seen.add(phaseOf(run));
  }
}

async function watchEnds(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await world.client
      .resource(RunKind, NAMESPACE)
      .listAll()
      .then(
        ({ items }) => note(items),
        () => {},
      );
    await pause(100);
  }
}

async function killHost(): Promise<void> {
  await engine.kill();
  engine = await spawnEngine(data, { args });
}

/** As soon as there is one again. */
async function killControlPlane(): Promise<void> {
  const cluster = await persistently(() => world.client.resource(TenantClusterKind, 'acme').get('acme'));
  await world.eventually(() => {
    try {
      const record = readFileSync(join(data, 'clusters', 'records', `${cluster.metadata.uid}.json`), 'utf8');
      return Promise.resolve(process.kill((JSON.parse(record) as { process: { pid: number } }).process.pid, 'SIGKILL'));
    } catch {
      return Promise.resolve(undefined);
    }
  });
}

it('Runs end once, and run once, while the dial is turned and whoever works on it is killed', { timeout: 240_000 }, async () => {
  const over = new AbortController();
  const watching = watchEnds(over.signal);
  const submitting = submit();

  await persistently(() => world.patch('acme', { isolation: 'Cluster', cluster: { nodePools: [] } }));
  await killHost();
  await podInside();
  await pause(500);
  await killControlPlane();
  await pause(500);
  await killHost();
  await world.until('acme', ({ status }) => status?.isolation === 'Cluster');
  await create(LAST);
  await world.eventually(async () => (await world.client.resource(RunKind, NAMESPACE).get(LAST)).status?.assignedPod === 'cluster-pod');
  await killControlPlane();
  await persistently(() => world.patch('acme', { isolation: 'Namespace' }));
  await pause(200);
  await killHost();
  await submitting;

  await world.until('acme', ({ status }) => status?.isolation === 'Namespace' && status.phase === 'Active');
  const items = await world.eventually(async () => {
    const all = (await world.client.resource(RunKind, NAMESPACE).listAll()).items;
    return all.length === RUNS && all.every((run) => isTerminal(phaseOf(run))) ? all : undefined;
  });
  over.abort();
  await watching;
  note(items);
  const starts = Object.fromEntries(
    readdirSync(counts).map((name) => [name, readFileSync(join(counts, name), 'utf8').split('\n').length - 1]),
  );
  const expected = Object.fromEntries(Array.from({ length: RUNS }, (_, index) => [`run-${index}`, 1]));
  expect(starts).toEqual(expected);
  expect(Object.fromEntries([...ends].map(([name, phases]) => [name, [...phases]]))).toEqual(
    Object.fromEntries(Object.keys(expected).map((name) => [name, ['Succeeded']])),
  );
  expect(items.flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
  expect(items.find(({ metadata }) => metadata.name === LAST)?.status).toMatchObject({ assignedPod: 'cluster-pod', placedIn: 'acme' });
});
