import { TenantCondition, TenantPhase } from '../../../../api/tenantry.dev/v1alpha1/reasons.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { isConditionTrue } from '../../../../kube/conditions.ts';

/** Without these nobody should work in the tenant yet. */
const BASE = [
  TenantCondition.Accepted,
  TenantCondition.NamespacesReady,
  TenantCondition.OwnersBound,
  TenantCondition.QuotaSet,
  TenantCondition.LimitsSet,
  TenantCondition.NetworkIsolated,
];

export function phaseOf({ metadata, spec, status }: Tenant): string {
  const holds = (type: string): boolean => isConditionTrue(status?.conditions, type);
  if (metadata.deletionTimestamp !== undefined) return TenantPhase.Deleting;
  if (spec.suspended) return TenantPhase.Suspended;
  if (holds(TenantCondition.Moving)) return TenantPhase.Moving;
  return BASE.every(holds) ? TenantPhase.Active : TenantPhase.Pending;
}
