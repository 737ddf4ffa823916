import { TenantReason } from '../../../../api/tenantry.dev/v1alpha1/reasons.ts';
import type { Isolation, Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { stalled, type Outcome } from '../../../../runtime/steps/outcome.ts';

/** One setting of the dial. */
export interface IsolationProvider {
  /**
   * Brings the tenant to this isolation from whichever it has. Called again until it is done, and ever after to keep it so; when nothing is
   * left to do it writes nothing. `status.isolation` says what is in force.
   */
  settle(tenant: Tenant, now: number): Promise<Outcome>;
}

export type IsolationProviders = Readonly<Record<Isolation, IsolationProvider>>;

/** A setting that this installation does not have. The tenant stays where it is. */
export function unavailableIsolation(message: string): IsolationProvider {
  return { settle: () => Promise.resolve(stalled(TenantReason.IsolationUnavailable, message)) };
}

export const NO_CLUSTERS =
  'Cannot give the tenant isolation "Cluster": this version has no tenant clusters; use Namespace or DedicatedNodes';
