import { HncConfigurationKind } from '../../../api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import { OWNED_BY_TENANT, TENANT_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Tenant } from '../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { controllerOf } from '../../../kube/ownership.ts';
import type { Controller } from '../../../runtime/controller.ts';
import type { Change, Informer } from '../../../runtime/informer/informer.ts';
import type { TenancyEnvironment } from '../tenancy-environment.ts';
import { isNews } from './isolation/tenant-nodes.ts';
import { CiliumClusterwideNetworkPolicy } from './model/cilium-policy.ts';
import type { TenantParts } from './tenant-parts.ts';

/** Usage changes with every Pod; the Tenant shows it a moment later, once for all that changed. */
const USAGE_DELAY_MS = 500;
/** A move looks again after the Pods of the moment, not after each. */
const MOVE_DELAY_MS = 50;
const SYSTEM_SUFFIX = '--sys';

/** Which change concerns which tenants. @returns the way to stop what the controller does not stop itself */
export function wakeTenants(controller: Controller, parts: TenantParts, { informers, forest }: TenancyEnvironment): () => void {
  const { tenants, nodes, network } = parts;
  const known = (names: Iterable<string | undefined>): string[] => {
    const keys = new Set<string>();
    for (const name of names) if (name !== undefined && tenants.get(name)) keys.add(name);
    return [...keys];
  };
  const everyone = (): string[] => Array.from(tenants.list(), ({ metadata }) => metadata.name!);
  const owner = (change: Change<KubeObject>): string[] => {
    const keys = known([change.object.metadata.labels?.[OWNED_BY_TENANT]]);
    if (!isUsageOnly(change)) return keys;
    for (const key of keys) controller.queue.addAfter(key, USAGE_DELAY_MS);
    return [];
  };
  const placed = ({ object }: Change<KubeObject>): string[] => {
    for (const name of known(parts.pods.moving)) controller.queue.addAfter(name, MOVE_DELAY_MS);
    const ofNode = object.spec?.nodeName === undefined ? undefined : nodes.tenantOf(object.spec.nodeName);
    const isIntruder = ofNode !== forest.get(object.metadata.namespace!)?.tenant && controllerOf(object)?.kind !== 'DaemonSet';
    return isIntruder ? known([ofNode]) : [];
  };

  for (const informer of parts.owned.informers) controller.watch(informer, owner);
  parts.owned.onFollow(CiliumClusterwideNetworkPolicy, (informer) => controller.watch(informer, owner));
  parts.clusters.onFollow((clusters) => controller.watch(clusters, ({ object }) => known([object.metadata.namespace])));
  parts.pods.onFollow((pods: Informer) => controller.watch(pods, placed));
  controller
    .watch(tenants, (change) => (isReport(change) ? [] : [change.object.metadata.name!]))
    .watch(parts.namespaceCache, (change) => known(namedBy(change)))
    .watch(parts.anchors, ({ object }) => known([forest.get(object.metadata.namespace!)?.tenant]))
    .watch(parts.nodeCache, (change) => {
      if (!isNews(change)) return [];
      return hasNewAddresses(change) ? everyone() : everyone().filter((name) => usesNodes(tenants.get(name)!));
    })
    .watch(informers.get(HncConfigurationKind), (change) => (isSameSpec(change) ? [] : everyone()))
    .watch(network.service, everyone)
    .watch(network.slices, everyone)
    .watch(network.definitions, ({ object }) => (object.metadata.name!.endsWith('.cilium.io') ? everyone() : []));
  return forest.onChange((names) => {
    for (const key of known(names.map((name) => forest.get(name)?.tenant))) controller.queue.add(key);
  });
}

/** The tenant that the namespace is of, was of, or stands in the way of. */
function namedBy(change: Change<KubeObject>): (string | undefined)[] {
  const { name = '', labels } = change.object.metadata;
  const before = change.type === 'modified' ? change.previous.metadata.labels?.[TENANT_LABEL] : undefined;
  return [labels?.[TENANT_LABEL], before, name.endsWith(SYSTEM_SUFFIX) ? name.slice(0, -SYSTEM_SUFFIX.length) : name];
}

function isSameSpec(change: Change<KubeObject>): boolean {
  return change.type === 'modified' && deepEqual(change.object.spec, change.previous.spec);
}

/** A quota whose tenant only used more or less of it. */
function isUsageOnly(change: Change<KubeObject>): boolean {
  if (change.object.kind !== 'HierarchicalResourceQuota' || !isSameSpec(change) || change.type !== 'modified') return false;
  return deepEqual(change.object.metadata.labels, change.previous.metadata.labels);
}

/** Our own write of the status. */
function isReport(change: Change<Tenant>): boolean {
  if (change.type !== 'modified') return false;
  const { object, previous } = change;
  return (
    object.metadata.generation === previous.metadata.generation &&
    object.metadata.deletionTimestamp === previous.metadata.deletionTimestamp &&
    deepEqual(object.metadata.finalizers, previous.metadata.finalizers)
  );
}

function hasNewAddresses(change: Change<KubeObject>): boolean {
  if (change.type !== 'modified') return true;
  const { object, previous } = change;
  return !deepEqual(object.status?.addresses, previous.status?.addresses) || !deepEqual(object.spec?.podCIDRs, previous.spec?.podCIDRs);
}

function usesNodes({ spec, status }: Tenant): boolean {
  return spec.isolation === 'DedicatedNodes' || status?.isolation === 'DedicatedNodes';
}
