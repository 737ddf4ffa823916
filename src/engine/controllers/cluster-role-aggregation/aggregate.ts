import { semanticEqual } from '../../../kube/json-value.ts';
import { labelSelectorMatcher } from '../../../kube/label-selector.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';

/** The rules that an aggregated ClusterRole should have: those of all roles its selectors choose, in the order of their names, each once. */
export function aggregateRules(role: KubeObject, all: Iterable<KubeObject>): Json[] {
  const candidates = [...all]
    .filter((other) => other.metadata.name !== role.metadata.name)
    .sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
  const rules: Json[] = [];
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const matcher = labelSelectorMatcher(selector);
    for (const other of candidates) {
      if (!matcher.matches(other.metadata.labels)) continue;
      for (const rule of other.rules ?? []) if (!rules.some((known) => semanticEqual(known, rule))) rules.push(rule);
    }
  }
  return rules;
}
