import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { HierarchicalResourceQuotaKind } from '../../../src/api/hnc.x-k8s.io/v1alpha2/hierarchical-resource-quota.ts';
import { HierarchyConfigurationKind } from '../../../src/api/hnc.x-k8s.io/v1alpha2/hierarchy-configuration.ts';
import { SubnamespaceAnchorKind } from '../../../src/api/hnc.x-k8s.io/v1alpha2/subnamespace-anchor.ts';
import { TenantKind } from '../../../src/api/tenantry.dev/v1alpha1/tenant.ts';
import { createClient, type Client } from '../../../src/client/client.ts';
import { connectContext } from '../../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../../src/client/config/kubeconfig.ts';
import { ClusterRole, ClusterRoleBinding, LimitRange, Namespace, NetworkPolicy, RoleBinding } from '../../../src/client/kinds.ts';
import { isConditionTrue } from '../../../src/kube/conditions.ts';
import type { Kind } from '../../../src/kube/kind.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { startEngine } from '../../../src/main/engine.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';

const KINDS: Kind[] = [
  TenantKind,
  Namespace,
  RoleBinding,
  ClusterRole,
  ClusterRoleBinding,
  LimitRange,
  NetworkPolicy,
  HierarchicalResourceQuotaKind,
  HierarchyConfigurationKind,
  SubnamespaceAnchorKind,
];

/** What there is of a tenant, with the version of each. */
async function versions(client: Client, tenant: string): Promise<string[]> {
  const lists = await Promise.all(KINDS.map((kind) => client.resource(kind).listAll()));
  return lists
    .flatMap(({ items }, index) => items.map(({ metadata }) => ({ kind: KINDS[index].kind, ...metadata })))
    .filter(({ name, namespace }) => [name, namespace].some((part) => part?.split('--')[0].split(':').at(-1) === tenant))
    .map(({ kind, namespace = '', name, resourceVersion }) => `${kind} ${namespace}/${name} ${resourceVersion}`)
    .sort();
}

it('a restart, writes nothing of a tenant again', { timeout: 120_000 }, async () => {
  const data = mkdtempSync(join(tmpdir(), 'tenantry-tenant-restart-'));
  const start = async () => {
    const options = { address: '127.0.0.1', port: 0, fallBackToFreePort: false, version: '0.0.0-test', log: silentLog };
    const engine = await startEngine({ ...options, data, areas: ownCustomResourceDefinitions });
    const client = createClient(await connectContext(resolveContext(await loadKubeconfig({ path: engine.kubeconfig }))));
    const ready = (name: string, namespaces: number) =>
      vi.waitUntil(
        async () => {
          const { status } = await client.resource(TenantKind).get(name);
          return isConditionTrue(status?.conditions, 'Ready') && status?.namespaceCount === namespaces;
        },
        { timeout: 45_000, interval: 25 },
      );
    const stop = async () => {
      await client.close();
      await engine.stop();
    };
    return { client, ready, stop };
  };

  const first = await start();
  const spec = { owners: [{ kind: 'User' as const, name: 'alice' }], quota: { hard: { pods: '5' } }, labels: { team: 'blue' } };
  await first.client.resource(TenantKind).create({ metadata: { name: 'acme' }, spec });
  await first.ready('acme', 2);
  await first.client.resource(SubnamespaceAnchorKind, 'acme').create({ metadata: { name: 'acme--dev' } });
  await first.ready('acme', 3);
  await vi.waitUntil(
    async () => {
      const copies = await first.client.resource(NetworkPolicy, 'acme--dev').list();
      const { status } = await first.client.resource(TenantKind).get('acme');
      const { metadata } = await first.client.resource(Namespace).get('acme--dev');
      return copies.items.length === 1 && status?.usage?.['pods']?.used === '0' && metadata.labels?.['team'] === 'blue';
    },
    { timeout: 45_000, interval: 50 },
  );
  let before = await versions(first.client, 'acme');
  // What was still under way has settled when two looks see the same.
  await vi.waitUntil(
    async () => {
      const again = await versions(first.client, 'acme');
      const settled = again.join() === before.join();
      before = again;
      return settled;
    },
    { timeout: 45_000, interval: 1000 },
  );
  expect(before.length).toBeGreaterThan(15);
  await first.stop();

  const second = await start();
  // Tenants are gone through in the order of their names: when the last one is done, so is the first.
  await second.client.resource(TenantKind).create({ metadata: { name: 'zeta' } });
  await second.ready('zeta', 2);
  expect(await versions(second.client, 'acme')).toEqual(before);
  await second.stop();
  rmSync(data, { recursive: true, force: true });
});
