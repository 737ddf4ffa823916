import type { Isolation, Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { Outcome } from '../../../../runtime/steps/outcome.ts';

/** One setting of the dial. */
export interface IsolationProvider {
  /**
   * Brings the tenant to this isolation from whichever it has. Called again until it is done, and ever after to keep it so; when nothing is
   * left to do it writes nothing. `status.isolation` says what is in force.
   */
  settle(tenant: Tenant, now: number): Promise<Outcome>;
}

export type IsolationProviders = Readonly<Record<Isolation, IsolationProvider>>;

export const NO_CLUSTERS = 'Cannot give the tenant isolation "Cluster": nobody makes tenant clusters here; use Namespace or DedicatedNodes';
