import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { HierarchicalResourceQuotaKind } from '../../src/api/hnc.x-k8s.io/v1alpha2/hierarchical-resource-quota.ts';
import { HierarchyConfigurationKind } from '../../src/api/hnc.x-k8s.io/v1alpha2/hierarchy-configuration.ts';
import { RunKind } from '../../src/api/kruntimes.io/v1alpha1/run.ts';
import { createClient, type Client } from '../../src/client/client.ts';
import { connectContext } from '../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../src/client/config/kubeconfig.ts';
import { ConfigMap, Namespace, ResourceQuota } from '../../src/client/kinds.ts';
import { isStatusError } from '../../src/kube/status.ts';
import { installObjects } from '../../src/main/areas.ts';
import { ownCustomResourceDefinitions } from '../support/custom-resource-definitions.ts';
import { startControllerManager } from './controller-manager.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { ProductProcesses, type ProductProcess } from './product-processes.ts';

const CHILDREN = Array.from({ length: 20 }, (_, index) => `branch-${index}`);
const LIMIT = 60;
const ROOT_CAS = CHILDREN.length + 1;
const PLACES = 25;
const RUN = { runtime: 'nobody-serves-it', source: { inline: 'true' }, mode: { task: {} } };

describe('tenancy as processes beside a real kube-apiserver, admission twice', () => {
  let plane: ControlPlane;
  let client: Client;
  let endManager: () => Promise<void>;
  let balancer: Server;
  const ports: number[] = [];
  let processes: ProductProcesses;
  let replicas: ProductProcess[];
  let controllers: ProductProcess;

  const until = (met: () => Promise<boolean> | boolean) => vi.waitUntil(met, { timeout: 60_000, interval: 100 });

  beforeAll(async () => {
    plane = await startControlPlane();
    processes = new ProductProcesses(plane);
    endManager = await startControllerManager(plane, [
      'namespace',
      'garbage-collector',
      'resourcequota',
      'serviceaccount',
      'root-ca-certificate-publisher',
    ]);
    client = createClient(await connectContext(resolveContext(await loadKubeconfig({ path: plane.kubeconfig }))));
    await client.resource(Namespace).create({ metadata: { name: 'tenantry-system' } });
    let turn = 0;
    balancer = createServer((socket) => {
      const other = connect(ports[turn++ % ports.length], '127.0.0.1');
      for (const end of [socket, other]) end.on('error', () => (socket.destroy(), other.destroy()));
      socket.pipe(other).pipe(socket);
    });
    await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve));
    const url = `https://127.0.0.1:${(balancer.address() as AddressInfo).port}`;
    replicas = [0, 1].map(() => processes.start('admission', '--area', 'tenancy', '--listen', '127.0.0.1:0', '--url', url));
    ports.push(...(await Promise.all(replicas.map((replica) => processes.port(replica)))));
    controllers = processes.start('controller', '--area', 'tenancy', '--namespace', 'tenantry-system');
  });

  afterAll(async () => {
    await processes.stop();
    balancer.close();
    await client.close();
    await endManager();
    await plane.stop();
  });

  async function tryCreate(namespace: string, name: string): Promise<string> {
    try {
      await client.resource(ConfigMap, namespace).create({ metadata: { name } });
      return 'made';
    } catch (error) {
      if (!isStatusError(error)) throw error;
      return error.message;
    }
  }

  it('200 creates at once in 20 namespaces never exceed the quota of their tree, and what fits passes in the end', async () => {
    await client.resource(Namespace).create({ metadata: { name: 'trunk' } });
    for (const name of CHILDREN) {
      await client.resource(Namespace).create({ metadata: { name } });
      const hierarchy = { metadata: { name: 'hierarchy' }, spec: { parent: 'trunk' } };
      // Which is refused until the controllers know the namespace.
      await until(() =>
        client
          .resource(HierarchyConfigurationKind, name)
          .create(hierarchy)
          .then(
            () => true,
            () => false,
          ),
      );
    }
    const quotas = client.resource(HierarchicalResourceQuotaKind, 'trunk');
    await quotas.create({ metadata: { name: 'all' }, spec: { hard: { configmaps: String(LIMIT + ROOT_CAS) } } });
    await until(async () => {
      const counts = await client.resource(ResourceQuota).list({ labelSelector: 'hnc.x-k8s.io/hrq=true' });
      return counts.items.filter(({ status }) => status?.used?.configmaps === '1').length === ROOT_CAS;
    });
    const names = Array.from({ length: 200 }, (_, index) => index);
    const outcomes = await Promise.all(names.map((index) => tryCreate(CHILDREN[index % 20], `item-${index}`)));
    const made = outcomes.filter((outcome) => outcome === 'made').length;
    expect(made).toBeLessThanOrEqual(LIMIT);
    expect(outcomes.find((outcome) => outcome.includes('hierarchical'))).toMatch(/exceeded hierarchical quota in namespace "trunk": "all"/);
    let more = 0;
    await until(async () => {
      if ((await tryCreate(CHILDREN[more % 20], `later-${more}`)) === 'made') more++;
      return made + more === LIMIT;
    });
    const all = await Promise.all(CHILDREN.map((namespace) => client.resource(ConfigMap, namespace).list()));
    expect(all.reduce((sum, { items }) => sum + items.length, 0)).toBe(LIMIT + CHILDREN.length);
    await until(async () => (await quotas.get('all')).status?.used?.configmaps === String(LIMIT + ROOT_CAS));
  }, 180_000);

  it('200 Runs made at once never exceed the places of their tree, and an end makes place', async () => {
    const definitions = ownCustomResourceDefinitions().filter(({ spec }) => spec.group === RunKind.group && spec.names.kind === 'Run');
    await installObjects(client, definitions);
    const make = async (namespace: string, name: string): Promise<boolean> => {
      try {
        await client.resource(RunKind, namespace).create({ metadata: { name }, spec: RUN });
        return true;
      } catch (error) {
        if (isStatusError(error, 'Forbidden') && error.message.includes('exceeded hierarchical quota in namespace "trunk": "runs"'))
          return false;
        throw error;
      }
    };
    const quotas = client.resource(HierarchicalResourceQuotaKind, 'trunk');
    await quotas.create({ metadata: { name: 'runs' }, spec: { hard: { 'tenantry.dev/runs-in-flight': '0' } } });
    // Whoever does not know the limit yet knows a smaller one later, and never a larger.
    let early = 0;
    let refused = 0;
    await until(async () => {
      if (await make('trunk', `early-${early}`)) {
        await client.resource(RunKind, 'trunk').delete(`early-${early++}`);
        refused = 0;
      } else refused++;
      return refused === 20;
    });
    await quotas.patch('runs', { type: 'merge', patch: { spec: { hard: { 'tenantry.dev/runs-in-flight': String(PLACES) } } } });
    await until(() => make('trunk', 'first'));
    const outcomes = await Promise.all(Array.from({ length: 200 }, (_, index) => make(CHILDREN[index % 20], `run-${index}`)));
    let made = outcomes.filter(Boolean).length + 1;
    expect(made).toBeLessThanOrEqual(PLACES);
    const fill = () =>
      until(async () => {
        if (made < PLACES && (await make('trunk', `later-${made}`))) made++;
        return made === PLACES;
      });
    await fill();
    expect((await client.resource(RunKind).list()).items).toHaveLength(PLACES);
    expect(await make('trunk', 'one-too-many')).toBe(false);
    await until(async () => (await quotas.get('runs')).status?.used?.['tenantry.dev/runs-in-flight'] === String(PLACES));

    await client.resource(RunKind, 'trunk').status.patch('first', { type: 'merge', patch: { status: { phase: 'Cancelled' } } });
    await until(() => make('trunk', 'takes-the-place'));
    expect(await make('trunk', 'one-too-many')).toBe(false);
  }, 180_000);

  it('goes on while one replica and the controllers are away', async () => {
    for (const { child } of [replicas[0], controllers]) child.kill('SIGKILL');
    ports.shift();
    await until(async () => (await tryCreate('branch-1', 'one-too-many')).includes('exceeded'));
  });
});
