import { compareText } from '../../../../kube/go-text.ts';
import { deepEqual } from '../../../../kube/json-value.ts';
import { labelSelectorMatcher, type LabelSelector } from '../../../../kube/label-selector.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import type { PolicyRule } from '../user.ts';

/** The rules that an aggregated ClusterRole gathers from all the others; undefined when it does not aggregate. */
export function aggregatedRules(role: KubeObject, roles: readonly KubeObject[]): PolicyRule[] | undefined {
  if (!role.aggregationRule) return undefined;
  const selectors: LabelSelector[] = role.aggregationRule.clusterRoleSelectors ?? [];
  const gathered: PolicyRule[] = [];
  const byName = [...roles].sort((a, b) => compareText(a.metadata.name!, b.metadata.name!));
  for (const selector of selectors) {
    const matcher = labelSelectorMatcher(selector);
    for (const candidate of byName) {
      if (candidate.metadata.name === role.metadata.name || !matcher.matches(candidate.metadata.labels)) continue;
      for (const rule of (candidate.rules as PolicyRule[] | undefined) ?? []) {
        if (!gathered.some((known) => deepEqual(known, rule))) gathered.push(rule);
      }
    }
  }
  return gathered;
}
