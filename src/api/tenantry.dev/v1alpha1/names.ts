/**
 * Labels and annotations that only the platform writes; admission refuses them from anybody else. Which tenant a namespace belongs to
 * is this label, never a prefix of its name.
 */
export const TENANT_LABEL = 'tenantry.dev/tenant';
/** Why a namespace of a tenant is not its owners' own: `tenant-system` or `plugin`. */
export const ROLE_LABEL = 'tenantry.dev/role';
export const SYSTEM_ROLE = 'tenant-system';
export const PLUGIN_ROLE = 'plugin';
/** `true` on an object: its copies also go into the namespaces of a tenant that are not its owners'. */
export const PROPAGATE_TO_PLATFORM = 'tenantry.dev/propagate-to-platform';
/** On namespaces, read by the Run scheduler: the weight of the tenant when Runs wait. */
export const RUN_SHARE_ANNOTATION = 'tenantry.dev/run-share';
/** On namespaces: which nodes the tenant's Pods are pinned to; absent on shared nodes. */
export const NODE_POOL_ANNOTATION = 'tenantry.dev/node-pool';
/** On namespaces: the tenant's cluster that their Runtimes and Runs work in; absent: this one. */
export const PLACED_IN_LABEL = 'tenantry.dev/placed-in';
/** On namespaces: nothing new starts. */
export const SUSPENDED_ANNOTATION = 'tenantry.dev/suspended';
/** On workloads of a suspended tenant: how many replicas they had. */
export const SUSPENDED_REPLICAS_ANNOTATION = 'tenantry.dev/replicas-before-suspension';
/** Label and taint of the nodes of a pool; the value is the tenant. */
export const NODE_TENANT = 'tenantry.dev/tenant';
export const TENANT_FINALIZER = 'tenantry.dev/tenant';
/** The HierarchicalResourceQuota in the root namespace that holds the tenant's quota; owners cannot touch it. */
export const TENANT_QUOTA = 'tenant';

/** No `--` inside, so that `a--b` is always namespace `b` of tenant `a`. */
export const TENANT_NAME = '^[a-z]([a-z0-9]|-[a-z0-9])*$';
/** `<tenant>--sys` and a few characters for a child's name must fit into 63. */
export const TENANT_NAME_MAX = 40;

export function systemNamespaceOf(tenant: string): string {
  return `${tenant}--sys`;
}

export function childNamespaceOf(tenant: string, name: string): string {
  return name.startsWith(`${tenant}--`) ? name : `${tenant}--${name}`;
}

/** On the objects that the Tenant controller keeps, in namespaces and cluster-wide; the value is the tenant. Owners cannot touch them. */
export const OWNED_BY_TENANT = 'tenantry.dev/owned-by-tenant';
/** On namespaces: which of their labels are the tenant's cost labels, so that those that go from the Tenant go from here. */
export const COST_LABELS_ANNOTATION = 'tenantry.dev/cost-labels';
/** On namespaces that outlived their tenant: which one it was. Rights that owners gave each other there outlive it too. */
export const RETAINED_ANNOTATION = 'tenantry.dev/retained-from';
/** On platform namespaces, such as that of an ingress controller: its Pods reach those of every tenant. */
export const REACHES_TENANTS_LABEL = 'tenantry.dev/reaches-tenants';
/** On namespaces of no tenant: their Pods may run on the nodes of any tenant, as agents of logs and metrics do. */
export const ON_ALL_NODES_LABEL = 'tenantry.dev/on-all-nodes';
/** What an owner of a tenant may do in its namespaces. */
export const OWNER_ROLE = 'tenantry:tenant-owner';
/** A resource of quotas: Runs that have not ended. */
export const RUNS_IN_FLIGHT = 'tenantry.dev/runs-in-flight';

/** A resource of quotas: the namespaces of a tenant, but for its root, as the anchors that ask for them. */
export const NAMESPACES_BELOW = 'count/subnamespaceanchors.hnc.x-k8s.io';

/** The ClusterRole, and its binding, that let owners see their own Tenant. */
export function viewerRoleOf(tenant: string): string {
  return `tenantry:tenant:${tenant}`;
}
