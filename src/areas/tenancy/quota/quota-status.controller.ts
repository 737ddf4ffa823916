import { HierarchicalResourceQuotaKind } from '../../../api/hnc.x-k8s.io/v1alpha2/hierarchical-resource-quota.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import { fromResourceList, toResourceList } from '../../../kube/resource-list.ts';
import { isStatusError } from '../../../kube/status.ts';
import { Controller } from '../../../runtime/controller.ts';
import { toKey } from '../../../runtime/informer/object-cache.ts';
import type { TenancyEnvironment } from '../tenancy-environment.ts';
import { summaries } from './model/namespace-quotas.ts';

/** Many objects made at once change a quota many times; its status tells of them together. */
const GATHER_MS = 100;

/** Keeps the status of the tree's quotas: what the branch uses. */
export function quotaStatusController({ client, clock, log, metrics, quotas: tree, runs }: TenancyEnvironment): Controller {
  const controller = new Controller({
    name: 'hierarchical-quota-status',
    clock,
    log,
    metrics,
    concurrency: 4,
    async reconcile(key) {
      const quota = tree.quotas.get(key);
      if (!quota || quota.metadata.deletionTimestamp !== undefined) return;
      const { namespace, name } = quota.metadata;
      const hard = toResourceList(quota.spec?.hard);
      const used = new Map([...tree.ledger.used(namespace!, name!), ...runs.used(namespace!, name!)]);
      const status = { hard: fromResourceList(hard), used: fromResourceList(used), ...summaries(hard, used) };
      if (deepEqual(quota.status, status)) return;
      const gone = (part: 'hard' | 'used') => Object.keys(quota.status?.[part] ?? {}).filter((resource) => !(resource in status[part]));
      const nulls = (part: 'hard' | 'used') => ({ ...status[part], ...Object.fromEntries(gone(part).map((resource) => [resource, null])) });
      const patch = { status: { ...status, hard: nulls('hard'), used: nulls('used') } };
      try {
        await client.resource(HierarchicalResourceQuotaKind, namespace).patch(name!, { type: 'merge', patch });
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error;
      }
    },
  });
  controller.watch(tree.quotas);
  runs.onChange((namespace) => {
    for (const { namespace: owner, quota } of runs.limitsFor(namespace)) controller.queue.addAfter(toKey(owner, quota), GATHER_MS);
  });
  tree.onChange((namespace) => {
    for (const entries of tree.ledger.limitsFor(namespace).values()) {
      for (const { namespace: owner, quota } of entries) controller.queue.addAfter(toKey(owner, quota), GATHER_MS);
    }
  });
  return controller;
}
