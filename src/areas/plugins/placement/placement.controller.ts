import { GATEWAY_ACCESS_LABEL, GATEWAY_REPORTS_NAMESPACE, PLACED_FROM_LABEL } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { whyOnHost } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-place.ts';
import { Secret } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import { splitKey, toKey } from '../../../runtime/informer/object-cache.ts';
import type { InstallationParts } from '../installation/installation-parts.ts';
import { pluginNamespaceOf } from '../installation/model/plugin-names.ts';
import { versionsAtWork } from '../installation/model/target.ts';
import { podSecurityLabels } from '../installation/plugin-namespaces.ts';
import { deployed } from '../installation/steps/workload.steps.ts';
import type { PluginsEnvironment } from '../plugins-environment.ts';
import { autoscalers } from '../workload/deployment.ts';
import { GatewayAccess, gatewayBinding } from './gateway-access.ts';
import { PUT_BACK_MS, type InsideCluster } from './inside-cluster.ts';
import { COPIED_PARTS, copyOf, marked } from './model/copies.ts';

const CONCURRENCY = 16;
/** Of one tenant: a cluster that answers slowly keeps no other tenant's plugins waiting. */
const OF_ONE_TENANT = { groupOf: (key: string) => splitKey(key).namespace!, atOnce: 2 };

/**
 * Keeps in the clusters of tenants what their plugins run with, by `<tenant>/<namespace of the plugin>`. Where a plugin has to run, and when
 * requests go there, is the installation's to say: nothing that waits for a tenant's cluster holds that up.
 */
export function placementController(environment: PluginsEnvironment, parts: InstallationParts): Controller {
  const { installations, placed, namespaceCache, namespaces } = parts;
  const secrets = environment.informers.get(Secret, { namespace: GATEWAY_REPORTS_NAMESPACE, labelSelector: GATEWAY_ACCESS_LABEL });
  const access = new GatewayAccess(environment.client, secrets, environment.clock);

  const ownerOf = (tenant: string, namespace: string): PluginInstallation | undefined =>
    installations
      .byIndex('namespace', namespace)
      .find(({ metadata }) => metadata.namespace === tenant && namespaces.isOwn(namespace, tenant, metadata.name!));
  const isAnyPlaced = (tenant: string) => installations.byIndex('tenant', tenant).some(({ status }) => status?.placement !== undefined);

  const reconcile = async (key: string): Promise<ReconcileResult | void> => {
    const { namespace: tenant, name: namespace } = splitKey(key) as { namespace: string; name: string };
    const installation = ownerOf(tenant, namespace);
    const isConcerned = placed.tenantIn(tenant) !== undefined || installation?.status?.placement !== undefined;
    const inside = isConcerned || placed.homes.of(tenant) ? placed.inside(tenant) : undefined;
    if (inside === undefined) return isConcerned || isAnyPlaced(tenant) ? undefined : access.remove(tenant);
    // Told when it is.
    if (!inside.isKnown) return undefined;
    const isLeaving = installation === undefined || installation.metadata.deletionTimestamp !== undefined;
    if (isLeaving || !belongs(installation, parts)) {
      await inside.remove(namespace);
      return inside.namespaces.length === 0 && !isAnyPlaced(tenant) ? access.remove(tenant) : undefined;
    }
    const objects = copies(installation, parts, tenant);
    if (objects === undefined) return parts.isSuspended(installation) ? inside.removeWorkloads(namespace) : undefined;
    await keep(inside, installation, namespace, objects);
    await access.keep(tenant, inside.home);
    // Administrators of the cluster may change what is there, and are not watched.
    return { afterMs: PUT_BACK_MS };
  };

  const controller = new Controller({
    ...environment,
    name: 'plugin-placement',
    concurrency: CONCURRENCY,
    share: OF_ONE_TENANT,
    reconcile,
  });
  const keyFor = ({ metadata, spec }: PluginInstallation) => toKey(metadata.namespace, pluginNamespaceOf(metadata.namespace!, spec.plugin));
  const ofTenant = (tenant: string): string[] => installations.byIndex('tenant', tenant).map(keyFor);
  const wake = (tenant: string, namespace?: string) => {
    const inside = placed.homes.of(tenant) ? (placed.inside(tenant)?.namespaces ?? []) : [];
    const keys = namespace === undefined ? [...ofTenant(tenant), ...inside.map((each) => toKey(tenant, each))] : [toKey(tenant, namespace)];
    for (const key of keys) controller.queue.add(key);
  };
  placed.onChange(wake);
  placed.homes.onChange((tenant) => wake(tenant));
  for (const informer of parts.objects.informers)
    controller.watch(informer, ({ object }) => installations.byIndex('namespace', object.metadata.namespace!).map(keyFor));
  return controller
    .watch(secrets)
    .watch(installations, ({ object }) => [keyFor(object)])
    .watch(parts.versions, ({ object: { spec } }) => installations.byIndex('plugin', `${spec.publisher}/${spec.plugin}`).map(keyFor))
    .watch(namespaceCache, ({ object }) => ofTenant(object.metadata.name!));
}

/** Whether something of it is, or is to be, in the cluster. */
function belongs(installation: PluginInstallation, parts: InstallationParts): boolean {
  if (installation.status?.placement !== undefined) return true;
  return parts.placeOf(installation).in === 'cluster';
}

/** Undefined while it is not known what runs: then what is there stays. */
function copies(installation: PluginInstallation, parts: InstallationParts, tenant: string): KubeObject[] | undefined {
  const { objects, versions, secrets } = parts;
  if (installation.status?.target?.isDeployed !== true) return undefined;
  const wanted = parts.targetIfKnown(installation);
  if (wanted === undefined) return undefined;
  const { namespace } = wanted;
  const kept = COPIED_PARTS.flatMap((copied) =>
    objects
      .informerOf(copied.kind)
      .byIndex('part', `${namespace}/${copied.part}`)
      .flatMap((original) => copyOf(copied, original, tenant) ?? []),
  );
  // One that cannot follow is none of these, whatever else is at work.
  const able = versionsAtWork(installation, wanted, (name) => versions.get(name)).filter(
    ({ manifest }) => whyOnHost(manifest) === undefined,
  );
  const workloads = able.flatMap((each) => [deployed(each, secrets), ...autoscalers(each)]);
  return [...kept, ...[gatewayBinding(), ...workloads].map((object) => marked(object, tenant))];
}

async function keep(
  inside: InsideCluster,
  { metadata }: PluginInstallation,
  namespace: string,
  objects: readonly KubeObject[],
): Promise<void> {
  const labels = { ...podSecurityLabels(), [PLACED_FROM_LABEL]: metadata.namespace! };
  await inside.keep({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } }, objects);
}
