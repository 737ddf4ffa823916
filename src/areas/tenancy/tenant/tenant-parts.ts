import { SubnamespaceAnchorKind, type SubnamespaceAnchor } from '../../../api/hnc.x-k8s.io/v1alpha2/subnamespace-anchor.ts';
import { TENANT_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import { TenantKind, type Tenant } from '../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { Namespace, Node } from '../../../client/kinds.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { TenancyEnvironment } from '../tenancy-environment.ts';
import { TenantClusters } from './isolation/tenant-clusters.ts';
import { TenantNodes } from './isolation/tenant-nodes.ts';
import { NetworkOfCluster } from './network-of-cluster.ts';
import { OwnedObjects } from './owned-objects.ts';
import { Suspension } from './steps/workloads-settled.step.ts';
import { TenantNamespaces } from './tenant-namespaces.ts';
import { TenantPods } from './tenant-pods.ts';
import { TenantWorkloads } from './tenant-workloads.ts';

/** The caches that the controller reads, and what it does through them. */
export interface TenantParts {
  tenants: Informer<Tenant>;
  namespaceCache: Informer;
  nodeCache: Informer;
  anchors: Informer<SubnamespaceAnchor>;
  owned: OwnedObjects;
  namespaces: TenantNamespaces;
  nodes: TenantNodes;
  network: NetworkOfCluster;
  suspension: Suspension;
  pods: TenantPods;
  clusters: TenantClusters;
  /** All namespaces of a tenant, with those on their way out, which the tree no longer counts. */
  existingNamespaces(tenant: string): string[];
}

export function tenantParts(environment: TenancyEnvironment): TenantParts {
  const { client, informers, forest } = environment;
  const namespaceCache = informers.get(Namespace) as Informer;
  namespaceCache.addIndex('tenant', ({ metadata }) => (metadata.labels?.[TENANT_LABEL] ? [metadata.labels[TENANT_LABEL]] : []));
  const nodeCache = informers.get(Node) as Informer;
  const namespaces = new TenantNamespaces(client, namespaceCache, forest);
  const workloads = new TenantWorkloads(client);
  const nodes = new TenantNodes(client, nodeCache);
  const network = new NetworkOfCluster(environment, nodeCache);
  return {
    tenants: informers.get(TenantKind),
    namespaceCache,
    nodeCache,
    anchors: informers.get(SubnamespaceAnchorKind),
    owned: new OwnedObjects(client, informers),
    namespaces,
    nodes,
    network,
    clusters: new TenantClusters(client, informers, network.definitions),
    suspension: new Suspension(namespaces, workloads),
    pods: new TenantPods(environment, { namespaces, nodes, workloads }),
    existingNamespaces(tenant) {
      const labelled = namespaceCache.byIndex('tenant', tenant).map(({ metadata }) => metadata.name!);
      return [...new Set([...namespaces.of(tenant), ...labelled])];
    },
  };
}
