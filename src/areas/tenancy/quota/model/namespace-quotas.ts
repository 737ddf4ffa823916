import { HRQ_LABEL, HRQ_SINGLETON, NONE } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { RUNS_IN_FLIGHT } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { HierarchicalResourceQuota } from '../../../../api/hnc.x-k8s.io/v1alpha2/hierarchical-resource-quota.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { fromResourceList, toResourceList, type ResourceList } from '../../../../kube/resource-list.ts';
import type { TreeLimit } from './tree-ledger.ts';

/** Scoped quotas of the same name in one line of ancestors share a ResourceQuota, so its scope is the nearest one's. */
export function countedIn(quota: HierarchicalResourceQuota): string {
  return isScoped(quota) ? `${HRQ_SINGLETON}-${quota.metadata.name}` : HRQ_SINGLETON;
}

export function isScoped(quota: HierarchicalResourceQuota): boolean {
  const expressions: Json = quota.spec?.scopeSelector?.matchExpressions;
  return Array.isArray(expressions) && expressions.length > 0;
}

/** What ResourceQuotas can count; undefined when the quota limits nothing of it. */
export function limitOf(quota: HierarchicalResourceQuota): TreeLimit | undefined {
  const hard = toResourceList(quota.spec?.hard);
  return hard.delete(RUNS_IN_FLIGHT) && hard.size === 0 ? undefined : { hard, countedIn: countedIn(quota) };
}

/** The limit on Runs that have not ended; scopes know nothing of Runs. */
export function runsLimitOf(quota: HierarchicalResourceQuota, countedInName: string): TreeLimit | undefined {
  const amount = toResourceList(quota.spec?.hard).get(RUNS_IN_FLIGHT);
  return amount === undefined || isScoped(quota) ? undefined : { hard: new Map([[RUNS_IN_FLIGHT, amount]]), countedIn: countedInName };
}

/** The smallest limit of each resource: what the namespace alone could use at most. */
export function smallest(limits: readonly ResourceList[]): ResourceList {
  const result: ResourceList = new Map();
  for (const limit of limits) {
    for (const [name, amount] of limit) {
      const present = result.get(name);
      if (!present || amount.compare(present) < 0) result.set(name, amount);
    }
  }
  return result;
}

/** The ResourceQuota that counts what a namespace uses of the limits above it. */
export function namespaceQuota(namespace: string, name: string, hard: ResourceList, scopeSelector: Json): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name, namespace, labels: { [HRQ_LABEL]: 'true' }, annotations: { [NONE]: 'true' } },
    spec: { hard: fromResourceList(hard), ...(scopeSelector === undefined ? {} : { scopeSelector }) },
  };
}

/** `requests.cpu: 1/2, pods: 3/10`: the columns of a quota; limits on limits have a column of their own. */
export function summaries(hard: ResourceList, used: ResourceList): { requestsSummary: string; limitsSummary: string } {
  const line = (names: string[]) =>
    names.map((name) => `${name}: ${used.get(name)?.toString() ?? '0'}/${hard.get(name)!.toString()}`).join(', ');
  const names = [...hard.keys()].sort();
  const isLimit = (name: string) => name.startsWith('limits.');
  return { requestsSummary: line(names.filter((name) => !isLimit(name))), limitsSummary: line(names.filter(isLimit)) };
}
