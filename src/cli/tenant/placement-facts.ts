import { RunKind } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { UNFINISHED } from '../../api/kruntimes.io/v1alpha1/run-state.ts';
import { RuntimeKind } from '../../api/kruntimes.io/v1alpha1/runtime.ts';
import { RUNTIME_LABEL } from '../../api/kruntimes.io/v1alpha1/names.ts';
import { PluginInstallationKind } from '../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { PluginVersionKind, pluginVersionName, type PluginVersion } from '../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { whyOnHost } from '../../api/plugins.tenantry.dev/v1alpha1/plugin-place.ts';
import { OWNED_BY_TENANT, ROLE_LABEL, TENANT_LABEL } from '../../api/tenantry.dev/v1alpha1/names.ts';
import { clusterCandidates, workersOf } from '../../api/tenantry.dev/v1alpha1/own-cluster.ts';
import type { PlacementFacts, PlannedPlugin } from '../../api/tenantry.dev/v1alpha1/placement-plan.ts';
import { TenantClusterKind } from '../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import type { Tenant } from '../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { Client } from '../../client/client.ts';
import { PersistentVolumeClaim } from '../../client/kinds.ts';
import type { KubeObject } from '../../kube/object.ts';
import { controllerOf } from '../../kube/ownership.ts';
import { isStatusError } from '../../kube/status.ts';

/** What of a tenant would go into a cluster of its own, and whether it could have one: asked of the API server, which makes nothing. */
export async function placementFacts(
  client: Client,
  tenant: Tenant,
  allNamespaces: readonly KubeObject[],
  pods: readonly KubeObject[],
): Promise<PlacementFacts> {
  const name = tenant.metadata.name!;
  const ofTenant = allNamespaces.filter(({ metadata }) => metadata.labels?.[TENANT_LABEL] === name);
  const namespaces = ofTenant.filter(({ metadata }) => metadata.labels?.[ROLE_LABEL] === undefined).map(({ metadata }) => metadata.name!);
  const lists = await Promise.all(
    namespaces.map(async (namespace) => ({
      runtimes: (await client.metadata(RuntimeKind, namespace).listAll()).items,
      runs: (await client.resource(RunKind, namespace).listAll({ fieldSelector: UNFINISHED })).items,
      claims: (await client.metadata(PersistentVolumeClaim, namespace).listAll()).items,
      plugins: await plannedPlugins(client, namespace),
    })),
  );
  return {
    namespaces,
    runtimes: lists.flatMap(({ runtimes }) => runtimes.map(titleOf)),
    runs: lists.flatMap(({ runs }) => runs),
    claims: lists.flatMap(({ claims }) => claims.map(titleOf)),
    plugins: lists.flatMap(({ plugins }) => plugins),
    workloads: workloadsOf(pods.filter(({ metadata }) => namespaces.includes(metadata.namespace!))),
    ...(await tried(client, tenant)),
  };
}

async function plannedPlugins(client: Client, namespace: string): Promise<PlannedPlugin[]> {
  const { items } = await client.resource(PluginInstallationKind, namespace).listAll();
  return Promise.all(
    items.map(async ({ metadata, spec, status }) => {
      const version = status?.target?.version ?? status?.version;
      const found = version && (await versionNamed(client, pluginVersionName(spec.publisher, spec.plugin, version)));
      const kept = found ? whyOnHost(found.spec.manifest) : undefined;
      return { title: titleOf({ metadata }), isInside: status?.placement !== undefined, ...(kept !== undefined && { kept }) };
    }),
  );
}

async function versionNamed(client: Client, name: string): Promise<PluginVersion | undefined> {
  try {
    return await client.resource(PluginVersionKind).get(name);
  } catch (error) {
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) return undefined;
    throw error;
  }
}

async function tried(client: Client, tenant: Tenant): Promise<{ refused?: string; workers: number }> {
  const name = tenant.metadata.name!;
  let refused: string | undefined;
  for (const spec of clusterCandidates(tenant)) {
    try {
      const metadata = { name, labels: { [OWNED_BY_TENANT]: name } };
      await client.resource(TenantClusterKind, name).create({ metadata, spec }, { dryRun: true });
      return { workers: workersOf({ spec }) };
    } catch (error) {
      // It is there already.
      if (isStatusError(error, 'AlreadyExists')) return { workers: workersOf(await client.resource(TenantClusterKind, name).get(name)) };
      if (isStatusError(error, 'NotFound'))
        return { workers: 0, refused: 'nobody makes tenant clusters here; use Namespace or DedicatedNodes' };
      if (!isStatusError(error)) throw error;
      refused ??= error.message;
    }
  }
  return { workers: 0, refused };
}

function workloadsOf(pods: readonly KubeObject[]): string[] {
  const titles = new Set<string>();
  for (const pod of pods) {
    const { namespace, name, labels } = pod.metadata;
    if (labels?.[RUNTIME_LABEL] !== undefined || pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') continue;
    const owner = controllerOf(pod) ?? { kind: 'Pod', name };
    titles.add(`${owner.kind} ${namespace}/${owner.name}`);
  }
  return [...titles].sort();
}

function titleOf({ metadata }: { metadata: KubeObject['metadata'] }): string {
  return `${metadata.namespace}/${metadata.name}`;
}
