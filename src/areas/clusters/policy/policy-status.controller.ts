import { ClusterCondition } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { ClusterPolicyKind, type ClusterPolicy } from '../../../api/tenantry.dev/v1alpha1/cluster-policy.ts';
import { TenantClusterKind } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import { Controller } from '../../../runtime/controller.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { ClustersEnvironment } from '../clusters-environment.ts';

/** More names than anybody reads. */
const NAMES_SHOWN = 100;

/** Says of every policy how many clusters it bounds, and which of them are beyond. */
export function policyStatusController(environment: ClustersEnvironment): { start(): void; stop(): Promise<void> } {
  const { hostClient, informers } = environment;
  const clusters = informers.get(TenantClusterKind);
  const policies = informers.get(ClusterPolicyKind);
  const controller = new Controller({
    ...environment,
    name: 'cluster-policy',
    async reconcile(key) {
      const policy = policies.get(key);
      if (policy === undefined) return;
      const bounded = [...clusters.list()].filter(({ status }) => status?.bounds?.policies?.includes(key));
      const beyond = bounded.filter(({ status }) => findCondition(status?.conditions, ClusterCondition.WithinBounds)?.status === 'False');
      const status: ClusterPolicy['status'] = {
        clusters: bounded.length,
        beyondBounds: beyond.map(keyOf).sort().slice(0, NAMES_SHOWN),
        observedGeneration: policy.metadata.generation,
      };
      if (deepEqual(policy.status, status)) return;
      await hostClient.resource(ClusterPolicyKind).status.patch(key, { type: 'merge', patch: { status } });
    },
  })
    .watch(policies)
    .watch(clusters, () => [...policies.list()].map(keyOf));
  return { start: () => void controller.start(), stop: () => controller.stop() };
}
