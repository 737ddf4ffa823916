import { NODE_POOL_ANNOTATION, PLACED_IN_LABEL } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import { TenantKind, type Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { Informer } from '../../../../runtime/informer/informer.ts';
import type { TreeNamespace } from '../../forest/tree-namespace.ts';
import type { TenancyEnvironment } from '../../tenancy-environment.ts';

/** Whom a write in a namespace concerns. */
export interface TenantContext {
  namespace: TreeNamespace;
  /** Undefined in namespaces of no tenant. */
  name: string | undefined;
  /** Undefined as well while the Tenant itself is gone, or not known yet. */
  tenant: Tenant | undefined;
  /** The tenant's Pods go to its own nodes. The root says it for all, so that a new namespace is no way around it. */
  isPinned: boolean;
  /** The cluster that the tenant's Runtimes and Runs work in; as the root says. */
  placedIn?: string;
  /** Nothing new starts. */
  isSuspended: boolean;
}

export type TenantLookup = (namespace: string | undefined) => TenantContext | undefined;

export function tenantLookup({ forest, informers }: Pick<TenancyEnvironment, 'forest' | 'informers'>): TenantLookup {
  const tenants: Informer<Tenant> = informers.get(TenantKind);
  return (name) => {
    const namespace = name === undefined ? undefined : forest.get(name);
    if (!namespace) return undefined;
    const tenant = namespace.tenant === undefined ? undefined : tenants.get(namespace.tenant);
    const root = namespace.tenant === undefined ? undefined : forest.get(namespace.tenant);
    return {
      namespace,
      name: namespace.tenant,
      tenant,
      isPinned: root?.annotations[NODE_POOL_ANNOTATION] !== undefined,
      placedIn: root?.labels[PLACED_IN_LABEL],
      isSuspended: tenant?.spec.suspended === true || tenant?.metadata.deletionTimestamp !== undefined,
    };
  };
}
