import type { Tenant } from '../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { Outcome } from '../../../runtime/steps/outcome.ts';
import type { Step } from '../../../runtime/steps/run-steps.ts';
import type { IsolationProviders } from './isolation/isolation-provider.ts';
import type { NetworkOfCluster } from './network-of-cluster.ts';
import type { OwnedObjects } from './owned-objects.ts';
import { accepted } from './steps/accepted.step.ts';
import { isolated } from './steps/isolated.step.ts';
import { namespacesReady } from './steps/namespaces-ready.step.ts';
import { limitsSet, networkIsolated, ownersBound, propagationOn, quotaSet } from './steps/owned.steps.ts';
import { workloadsSettled, type Suspension } from './steps/workloads-settled.step.ts';
import type { TenantNamespaces } from './tenant-namespaces.ts';

export interface TenantPorts {
  namespaces: TenantNamespaces;
  keep: OwnedObjects['keep'];
  network: Pick<NetworkOfCluster, 'facts' | 'hasCilium'>;
  /** Why what tenants need is not copied down their trees. */
  propagationProblem(): Promise<string | undefined>;
  suspension: Suspension;
  isolations: IsolationProviders;
  leaveCluster(tenant: Tenant, now: number): Promise<Outcome | undefined>;
}

/**
 * In this order: where, how much, how far, and only then who, so that owners come into a tenant that is safe already; then what of their
 * workloads runs, and on which nodes.
 */
export function tenantSteps(ports: TenantPorts): Step<Tenant>[] {
  const { namespaces, keep, network, propagationProblem, suspension, isolations, leaveCluster } = ports;
  return [
    accepted(namespaces),
    namespacesReady(namespaces),
    quotaSet(keep),
    propagationOn(propagationProblem),
    limitsSet(keep),
    networkIsolated(keep, network),
    ownersBound(keep),
    workloadsSettled(suspension),
    isolated(isolations, leaveCluster),
  ];
}
