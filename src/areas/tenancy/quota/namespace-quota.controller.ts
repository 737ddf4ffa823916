import type { HierarchicalResourceQuota } from '../../../api/hnc.x-k8s.io/v1alpha2/hierarchical-resource-quota.ts';
import { ResourceQuota } from '../../../client/kinds.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { isStatusError, type StatusReason } from '../../../kube/status.ts';
import { Controller } from '../../../runtime/controller.ts';
import type { TenancyEnvironment } from '../tenancy-environment.ts';
import { namespaceQuota, smallest } from './model/namespace-quotas.ts';
import type { TreeQuotas } from './tree-quotas.ts';

/** Many namespaces wait for one change at their root. */
const AT_ONCE = 16;

/** Keeps, in every namespace below a quota of the tree, the ResourceQuotas in which its usage is counted. */
export function namespaceQuotaController(environment: TenancyEnvironment): Controller {
  const { client, clock, log, metrics, forest, quotas: tree } = environment;
  const controller = new Controller({
    name: 'namespace-quota',
    clock,
    log,
    metrics,
    concurrency: AT_ONCE,
    async reconcile(namespace) {
      const place = forest.get(namespace);
      if (!place || place.terminating) return;
      const wanted = wantedQuotas(namespace, tree);
      const present = new Map(tree.countsIn(namespace).map((quota) => [quota.metadata.name!, quota]));
      const quotas = client.resource(ResourceQuota, namespace);
      for (const quota of wanted) {
        const stored = present.get(quota.metadata.name!);
        present.delete(quota.metadata.name!);
        if (!stored) await quotas.create(quota as never).catch(unless('AlreadyExists'));
        else if (!isAsWanted(stored, quota)) await quotas.patch(quota.metadata.name!, { type: 'merge', patch: change(stored, quota) });
      }
      for (const name of present.keys()) await quotas.delete(name).catch(unless('NotFound'));
    },
  });
  controller.watch(tree.quotas, ({ object }) => withDescendants(object.metadata.namespace!, environment));
  controller.watch(tree.counts, ({ object }) => [object.metadata.namespace!]);
  forest.onChange((names) => {
    for (const name of names) if (tree.ledger.limitsFor(name).size > 0 || tree.countsIn(name).length > 0) controller.queue.add(name);
  });
  return controller;
}

function withDescendants(namespace: string, { forest }: TenancyEnvironment): string[] {
  return [namespace, ...forest.descendants(namespace)];
}

function wantedQuotas(namespace: string, tree: TreeQuotas): KubeObject[] {
  return [...tree.ledger.limitsFor(namespace)].map(([name, limits]) => {
    const nearest = tree.quotas.find(limits[0].namespace, limits[0].quota);
    const hard = smallest(limits.map(({ limit }) => limit.hard));
    return namespaceQuota(namespace, name, hard, scopeOf(nearest));
  });
}

function scopeOf(quota: HierarchicalResourceQuota | undefined): Json {
  const selector: Json = quota?.spec?.scopeSelector;
  return selector?.matchExpressions?.length > 0 ? selector : undefined;
}

function isAsWanted(stored: KubeObject, wanted: KubeObject): boolean {
  const has = (present: Record<string, string> | undefined, all: Record<string, string> = {}) =>
    Object.entries(all).every(([key, value]) => present?.[key] === value);
  return (
    deepEqual(stored.spec?.hard ?? {}, wanted.spec.hard) &&
    deepEqual(stored.spec?.scopeSelector, wanted.spec.scopeSelector) &&
    has(stored.metadata.labels, wanted.metadata.labels) &&
    has(stored.metadata.annotations, wanted.metadata.annotations)
  );
}

function change(stored: KubeObject, wanted: KubeObject): KubeObject {
  const gone = Object.keys(stored.spec?.hard ?? {}).filter((name) => !(name in wanted.spec.hard));
  const hard = { ...wanted.spec.hard, ...Object.fromEntries(gone.map((name) => [name, null])) };
  const { labels, annotations } = wanted.metadata;
  return { metadata: { labels, annotations }, spec: { hard, scopeSelector: wanted.spec.scopeSelector ?? null } } as unknown as KubeObject;
}

function unless(reason: StatusReason): (error: unknown) => void {
  return (error) => {
    if (!isStatusError(error, reason)) throw error;
  };
}
