import { TenantCondition } from '../../../../api/tenantry.dev/v1alpha1/reasons.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { IsolationProviders } from '../isolation/isolation-provider.ts';

/** Last, because it can take long, and nothing else waits for it. */
export function isolated(providers: IsolationProviders): Step<Tenant> {
  return {
    name: TenantCondition.Isolated,
    run: (tenant, { now }) => providers[tenant.spec.isolation ?? 'Namespace'].settle(tenant, now()),
  };
}
