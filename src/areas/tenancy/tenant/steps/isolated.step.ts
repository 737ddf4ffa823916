import { TenantCondition } from '../../../../api/tenantry.dev/v1alpha1/reasons.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { Outcome } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { IsolationProviders } from '../isolation/isolation-provider.ts';

/** Last, because it can take long, and nothing else waits for it. @param leaveCluster the way back from a cluster of its own; undefined: there is none */
export function isolated(
  providers: IsolationProviders,
  leaveCluster: (tenant: Tenant, now: number) => Promise<Outcome | undefined>,
): Step<Tenant> {
  return {
    name: TenantCondition.Isolated,
    async run(tenant, { now }) {
      const wanted = tenant.spec.isolation ?? 'Namespace';
      const unfinished = wanted === 'Cluster' ? undefined : await leaveCluster(tenant, now());
      return unfinished ?? providers[wanted].settle(tenant, now());
    },
  };
}
