import { HierarchicalResourceQuotaKind } from '../../../../api/hnc.x-k8s.io/v1alpha2/hierarchical-resource-quota.ts';
import { TenantCondition, TenantReason } from '../../../../api/tenantry.dev/v1alpha1/reasons.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import { ClusterRole, ClusterRoleBinding, LimitRange, NetworkPolicy, RoleBinding } from '../../../../client/kinds.ts';
import { done, stalled } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { CiliumClusterwideNetworkPolicy, ciliumPolicies } from '../model/cilium-policy.ts';
import { networkPolicies, type NetworkFacts } from '../model/network-policies.ts';
import { ownerObjects } from '../model/owner-objects.ts';
import { limitRange, quotaObjects } from '../model/quota-objects.ts';
import type { OwnedObjects } from '../owned-objects.ts';

type Keep = OwnedObjects['keep'];

export function ownersBound(keep: Keep): Step<Tenant> {
  return {
    name: TenantCondition.OwnersBound,
    async run(tenant) {
      const name = tenant.metadata.name!;
      const { roleBindings, clusterRoles, clusterRoleBindings } = ownerObjects(tenant);
      await Promise.all([
        keep(RoleBinding, name, roleBindings),
        keep(ClusterRole, name, clusterRoles),
        keep(ClusterRoleBinding, name, clusterRoleBindings),
      ]);
      return roleBindings.length > 0 ? done() : done('NoOwners', 'only the platform can use it');
    },
  };
}

export function quotaSet(keep: Keep): Step<Tenant> {
  return {
    name: TenantCondition.QuotaSet,
    async run(tenant) {
      const quotas = quotaObjects(tenant);
      await keep(HierarchicalResourceQuotaKind, tenant.metadata.name!, quotas);
      return quotas.length > 0 ? done() : done('Unlimited', 'the tenant may use what there is');
    },
  };
}

/** `problem` makes the kinds known to the tree as ones to copy, and says why they are not copied all the same. */
export function propagationOn(problem: () => Promise<string | undefined>): Step<Tenant> {
  return {
    name: TenantCondition.PropagationOn,
    async run() {
      const message = await problem();
      return message === undefined ? done() : stalled(TenantReason.PropagationOff, message);
    },
  };
}

export function limitsSet(keep: Keep): Step<Tenant> {
  return {
    name: TenantCondition.LimitsSet,
    async run(tenant) {
      await keep(LimitRange, tenant.metadata.name!, [limitRange(tenant)]);
      return done();
    },
  };
}

export function networkIsolated(keep: Keep, network: { facts(): NetworkFacts; hasCilium(): boolean }): Step<Tenant> {
  return {
    name: TenantCondition.NetworkIsolated,
    async run(tenant) {
      const name = tenant.metadata.name!;
      await keep(NetworkPolicy, name, networkPolicies(tenant, network.facts()));
      if (network.hasCilium()) await keep(CiliumClusterwideNetworkPolicy, name, ciliumPolicies(tenant));
      return done();
    },
  };
}
