/**
 * Counts of objects that the platform writes into every namespace of a tenant. An API server refuses those as well when a quota has no
 * room: whoever fills it has the next namespace without its network policy, its limits or the quotas themselves.
 */
const PLATFORM_COUNTS = new Set([
  'resourcequotas',
  'count/resourcequotas',
  'count/limitranges',
  'count/networkpolicies.networking.k8s.io',
  'count/roles.rbac.authorization.k8s.io',
  'count/rolebindings.rbac.authorization.k8s.io',
  'count/hierarchyconfigurations.hnc.x-k8s.io',
  'count/hierarchicalresourcequotas.hnc.x-k8s.io',
]);

/** @returns the resources that no quota in a tenant may limit */
export function platformCounts(hard: Readonly<Record<string, unknown>> | undefined): string[] {
  return Object.keys(hard ?? {}).filter((resource) => PLATFORM_COUNTS.has(resource));
}
