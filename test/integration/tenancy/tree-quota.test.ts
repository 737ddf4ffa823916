import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { HierarchicalResourceQuotaKind } from '../../../src/api/hnc.x-k8s.io/v1alpha2/hierarchical-resource-quota.ts';
import { HierarchyConfigurationKind } from '../../../src/api/hnc.x-k8s.io/v1alpha2/hierarchy-configuration.ts';
import { createClient, type Client } from '../../../src/client/client.ts';
import { connectContext } from '../../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../../src/client/config/kubeconfig.ts';
import { ConfigMap, Namespace, ResourceQuota } from '../../../src/client/kinds.ts';
import { isStatusError } from '../../../src/kube/status.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { startEngine, type Engine } from '../../../src/main/engine.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';

const CHILDREN = Array.from({ length: 20 }, (_, index) => `branch-${index}`);
const LIMIT = 60;
/** Each namespace has one that the cluster's trust made. */
const ROOT_CAS = CHILDREN.length + 1;

let data: string;
let engine: Engine;
let client: Client;

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'tenantry-tree-quota-'));
  await start();
});

afterAll(async () => {
  await client.close();
  await engine.stop();
  rmSync(data, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const options = { address: '127.0.0.1', port: 0, fallBackToFreePort: false, version: '0.0.0-test', log: silentLog };
  engine = await startEngine({ ...options, data, areas: ownCustomResourceDefinitions });
  client = createClient(await connectContext(resolveContext(await loadKubeconfig({ path: engine.kubeconfig }))));
}

function until(met: () => Promise<boolean>): Promise<boolean> {
  return vi.waitUntil(met, { timeout: 20_000, interval: 50 });
}

async function tryCreate(namespace: string, name: string): Promise<string> {
  try {
    await client.resource(ConfigMap, namespace).create({ metadata: { name } });
    return 'made';
  } catch (error) {
    if (!isStatusError(error, 'Forbidden')) throw error;
    return error.message;
  }
}

async function countAll(): Promise<number> {
  const all = await Promise.all(CHILDREN.map((namespace) => client.resource(ConfigMap, namespace).list()));
  return all.reduce((sum, { items }) => sum + items.length, 0);
}

it('200 creates at once in 20 namespaces fill the quota of their tree to the last place and not beyond, and a restart forgets nothing', async () => {
  await client.resource(Namespace).create({ metadata: { name: 'trunk' } });
  for (const name of CHILDREN) {
    await client.resource(Namespace).create({ metadata: { name } });
    await client.resource(HierarchyConfigurationKind, name).create({ metadata: { name: 'hierarchy' }, spec: { parent: 'trunk' } });
  }
  await until(async () => (await countAll()) === CHILDREN.length);
  const quotas = client.resource(HierarchicalResourceQuotaKind, 'trunk');
  await quotas.create({ metadata: { name: 'all' }, spec: { hard: { configmaps: String(LIMIT + ROOT_CAS) } } });
  await until(async () => {
    const counts = await client.resource(ResourceQuota).list({ labelSelector: 'hnc.x-k8s.io/hrq=true' });
    return counts.items.filter(({ status }) => status?.used?.configmaps === '1').length === ROOT_CAS;
  });

  const outcomes = await Promise.all(Array.from({ length: 200 }, (_, index) => tryCreate(CHILDREN[index % 20], `item-${index}`)));
  expect(outcomes.filter((outcome) => outcome === 'made')).toHaveLength(LIMIT);
  expect(outcomes.find((outcome) => outcome !== 'made')).toMatch(
    /exceeded hierarchical quota in namespace "trunk": "all", requested: configmaps=1, used: configmaps=81, limited: configmaps=81/,
  );
  expect(await countAll()).toBe(LIMIT + CHILDREN.length);
  await until(async () => (await quotas.get('all')).status?.used?.configmaps === String(LIMIT + ROOT_CAS));
  expect((await quotas.get('all')).status?.requestsSummary).toBe('configmaps: 81/81');

  const victim = outcomes.indexOf('made');
  await client.resource(ConfigMap, CHILDREN[victim % 20]).delete(`item-${victim}`);
  await until(async () => (await tryCreate('branch-3', 'takes-the-place')) === 'made');

  await client.close();
  await engine.stop();
  await start();
  expect(await tryCreate('branch-5', 'one-too-many')).toMatch(/exceeded hierarchical quota in namespace "trunk"/);
}, 60_000);

it('a quota of something that cannot be limited is refused with the words of the API server', async () => {
  const quota = { metadata: { name: 'wrong' }, spec: { hard: { roles: '1' } } };
  await expect(client.resource(HierarchicalResourceQuotaKind, 'trunk').create(quota)).rejects.toThrow(
    /admission webhook "hrq.hnc.x-k8s.io" denied the request: .*spec\.hard\[roles\]/,
  );
});
