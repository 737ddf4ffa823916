import {
  HierarchicalResourceQuotaKind,
  type HierarchicalResourceQuota,
} from '../../../api/hnc.x-k8s.io/v1alpha2/hierarchical-resource-quota.ts';
import { TENANT_FINALIZER } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import { TenantKind, type Tenant } from '../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { Controller } from '../../../runtime/controller.ts';
import { stepReconciler } from '../../../runtime/steps/step-reconciler.ts';
import { DRAIN_AGAIN_MS, drainNamespaces } from '../hierarchy/drain/drain-namespaces.ts';
import type { TenancyEnvironment } from '../tenancy-environment.ts';
import { deleteNamespaces, dissolveTree } from './deletion/delete-namespaces.ts';
import { teardownSteps, type TeardownPorts } from './deletion/teardown.steps.ts';
import { dedicatedNodes } from './isolation/dedicated-nodes.ts';
import type { IsolationProviders } from './isolation/isolation-provider.ts';
import { leaveCluster, ownCluster, type OwnClusterPorts } from './isolation/own-cluster.ts';
import { sharedNodes } from './isolation/shared-nodes.ts';
import { usageOf } from './model/quota-objects.ts';
import { phaseOf } from './model/tenant-summary.ts';
import { FIELD_MANAGER } from './owned-objects.ts';
import { ensurePropagated } from './propagated-kinds.ts';
import { tenantParts, type TenantParts } from './tenant-parts.ts';
import { tenantSteps } from './tenant.steps.ts';
import { wakeTenants } from './tenant.wake-ups.ts';

const CONCURRENCY = 8;
/** More names than anybody reads; `namespaceCount` is exact. */
const NAMES_SHOWN = 1000;

/** Keeps what every Tenant stands for: a branch of the tree, its owners, quota, boundaries, and the nodes it runs on. */
export function tenantController(environment: TenancyEnvironment): { start(): void; stop(): Promise<void> } {
  const { client, clock, informers } = environment;
  const parts = tenantParts(environment);
  const { tenants, namespaces, network, owned, suspension } = parts;
  const reconcile = stepReconciler<Tenant>({
    clock,
    read: (key) => tenants.get(key),
    resource: () => client.resource(TenantKind),
    fieldManager: FIELD_MANAGER,
    finalizer: TENANT_FINALIZER,
    steps: tenantSteps({
      namespaces,
      keep: (kind, tenant, wanted) => owned.keep(kind, tenant, wanted),
      network,
      propagationProblem: () => ensurePropagated(client, informers),
      suspension,
      isolations: isolationsOf(parts),
      leaveCluster: (tenant, now) => leaveCluster(tenant, now, clusterPorts(parts)),
    }),
    teardown: teardownSteps(teardownPorts(environment, parts)),
    summarise: (tenant) => summarise(tenant, parts),
  });
  const controller = new Controller({ ...environment, name: 'tenant', concurrency: CONCURRENCY, reconcile });
  const unlisten = wakeTenants(controller, parts, environment);
  return {
    start: () => void controller.start(),
    async stop() {
      unlisten();
      await controller.stop();
    },
  };
}

function isolationsOf(parts: TenantParts): IsolationProviders {
  const { pods } = parts;
  return { Namespace: sharedNodes(pods), DedicatedNodes: dedicatedNodes(pods), Cluster: ownCluster(clusterPorts(parts)) };
}

function clusterPorts({ clusters, pods, namespaces }: TenantParts): OwnClusterPorts {
  return {
    clusters,
    pods,
    namespaces: {
      toPlace: (tenant) => namespaces.ofOwners(tenant),
      ofPlugins: (tenant) => namespaces.ofPlugins(tenant),
      setPlaced: (tenant, cluster) => namespaces.setPlaced(tenant, cluster),
    },
  };
}

function teardownPorts({ client, informers }: TenancyEnvironment, parts: TenantParts): TeardownPorts {
  const { suspension, owned, nodes, clusters, namespaceCache, anchors, existingNamespaces } = parts;
  const caches = { client, namespaces: namespaceCache, anchors, namespacesOf: existingNamespaces };
  return {
    suspend: (tenant) => suspension.suspend(tenant),
    resume: (tenant) => suspension.resume(tenant),
    releaseOwners: (tenant) => owned.removeRights(tenant),
    async removeCluster(tenant) {
      const cluster = await clusters.of(tenant);
      if (cluster) await clusters.remove(cluster);
      return cluster === undefined;
    },
    drain: (tenant) => drainNamespaces(client, informers, existingNamespaces(tenant)),
    drainAgainMs: DRAIN_AGAIN_MS,
    deleteNamespaces: (tenant) => deleteNamespaces(caches, tenant),
    dissolveTree: (tenant) => dissolveTree(caches, tenant),
    async removeClusterObjects(tenant) {
      await owned.removeAll(tenant);
      await nodes.release(tenant, nodes.of(tenant));
    },
  };
}

function summarise(tenant: Tenant, { namespaces, owned, nodes }: TenantParts): void {
  const name = tenant.metadata.name!;
  // The tree has no order among siblings that would outlive a restart.
  const all = namespaces.of(name).sort();
  const quotas = owned.of(HierarchicalResourceQuotaKind, name) as HierarchicalResourceQuota[];
  tenant.status = {
    ...tenant.status,
    phase: phaseOf(tenant),
    namespaces: all.slice(0, NAMES_SHOWN),
    namespaceCount: all.length,
    usage: usageOf(quotas),
    nodes: nodes.of(name),
  };
}
