import { SYSTEM_ROLE, systemNamespaceOf } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { platformCounts } from '../../quota/model/platform-counts.ts';
import { validateCidr } from '../../../../kube/ip.ts';

/** Namespaces whose labels mean something to Kubernetes or to us; a cost label that looked like one could change what it means. */
const RESERVED_DOMAINS = ['kubernetes.io', 'k8s.io', 'hnc.x-k8s.io', 'tenantry.dev'];
/** Everybody, or the platform itself: not an owner. */
const NO_OWNERS = new Set([
  'system:authenticated',
  'system:unauthenticated',
  'system:anonymous',
  'system:masters',
  'system:nodes',
  'system:serviceaccounts',
  'tenantry:platform',
]);

/** What is wrong with a Tenant beyond what its schema says, in words for whoever wrote it. */
export function problemsOf({ metadata, spec }: Tenant): string[] {
  const problems: string[] = [];
  for (const { name } of spec.owners ?? [])
    if (NO_OWNERS.has(name)) problems.push(`spec.owners: "${name}" cannot own a tenant; name users, groups or service accounts of its own`);
  for (const key of Object.keys(spec.labels ?? {}))
    if (isReserved(key)) problems.push(`spec.labels: "${key}" is reserved; use a key of your own domain, or none`);
  for (const { hard } of [spec.quota ?? {}, ...(spec.quota?.scoped ?? [])])
    for (const resource of platformCounts(hard))
      problems.push(`spec.quota: "${resource}" is what the platform itself writes in every namespace; leave it out`);
  for (const { cidr } of spec.network?.allow ?? [])
    if (validateCidr('', cidr).length > 0) problems.push(`spec.network.allow: "${cidr}" is not a range of addresses such as 192.0.2.0/24`);
  if (spec.isolation === 'DedicatedNodes' && !spec.nodePool?.names?.length && Object.keys(spec.nodePool?.matchLabels ?? {}).length === 0)
    problems.push('spec.nodePool: is needed for isolation DedicatedNodes; give the names or the labels of the nodes');
  if (spec.autoscaling?.enabled)
    problems.push(
      'spec.autoscaling: this version installs no KEDA of a tenant’s own; leave it out, or scale with a HorizontalPodAutoscaler',
    );
  if (isPlatformName(metadata.name ?? '')) problems.push(`metadata.name: "${metadata.name}" is a name of the platform; choose another`);
  return problems;
}

function isPlatformName(name: string): boolean {
  return name === 'default' || /^(kube|tenantry|hnc)-/.test(name) || name === 'kube' || name === 'tenantry';
}

function isReserved(key: string): boolean {
  const slash = key.indexOf('/');
  if (slash < 0) return false;
  const domain = key.slice(0, slash);
  return RESERVED_DOMAINS.some((reserved) => domain === reserved || domain.endsWith(`.${reserved}`));
}

/** What is known of a namespace of a name that the tenant needs. */
export interface ExistingNamespace {
  tenant?: string;
  role?: string;
  parent?: string;
  terminating: boolean;
}

/** Why the tenant cannot have its root and system namespaces; undefined when it can. */
export function namespaceTaken(
  tenant: string,
  root: ExistingNamespace | undefined,
  system: ExistingNamespace | undefined,
): string | undefined {
  if (root && root.tenant !== tenant)
    return `Cannot take namespace "${tenant}" as the root of the tenant: it exists and is not the tenant's; delete it, or label it tenantry.dev/tenant=${tenant} to make it so`;
  if (root?.parent) return `Cannot take namespace "${tenant}" as the root of the tenant: it is below another; make it a root first`;
  if (system && system.role !== SYSTEM_ROLE)
    return `Cannot take namespace "${systemNamespaceOf(tenant)}" for the platform: it exists and is not the platform's; delete it`;
  return undefined;
}
