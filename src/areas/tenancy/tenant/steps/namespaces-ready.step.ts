import { TenantCondition } from '../../../../api/tenantry.dev/v1alpha1/reasons.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { done } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { TenantNamespaces } from '../tenant-namespaces.ts';

/** The root and the system namespace are there, and every namespace of the tree carries what the Tenant says of all. */
export function namespacesReady(namespaces: Pick<TenantNamespaces, 'ensure' | 'label'>): Step<Tenant> {
  return {
    name: TenantCondition.NamespacesReady,
    async run(tenant) {
      await namespaces.ensure(tenant);
      await namespaces.label(tenant);
      return done();
    },
  };
}
