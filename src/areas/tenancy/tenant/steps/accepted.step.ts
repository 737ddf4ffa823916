import { systemNamespaceOf } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import { TenantCondition, TenantReason } from '../../../../api/tenantry.dev/v1alpha1/reasons.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { done, stalled, waiting } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { namespaceTaken, problemsOf } from '../model/validate-tenant.ts';
import type { TenantNamespaces } from '../tenant-namespaces.ts';

/** Nothing is written for a Tenant that makes no sense, or whose namespaces are somebody else's. */
export function accepted(namespaces: Pick<TenantNamespaces, 'get'>): Step<Tenant> {
  return {
    name: TenantCondition.Accepted,
    run(tenant) {
      const name = tenant.metadata.name!;
      const problems = problemsOf(tenant);
      if (problems.length > 0) return stalled(TenantReason.InvalidSpec, problems.join('; '));
      const [root, system] = [name, systemNamespaceOf(name)].map((wanted) => namespaces.get(wanted));
      const taken = namespaceTaken(name, root, system);
      if (taken !== undefined) return stalled(TenantReason.NamespaceTaken, taken);
      if (root?.terminating || system?.terminating)
        return waiting(TenantReason.NamespaceTerminating, 'namespaces of a tenant of this name are still on their way out');
      return done('Accepted');
    },
  };
}
