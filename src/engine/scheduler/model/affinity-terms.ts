import type { PodAffinityTerm, WeightedPodAffinityTerm } from '../../../kube/generated/core-v1.ts';
import { labelSelectorMatcher, type LabelExpression, type LabelMatcher, type LabelSelector } from '../../../kube/label-selector.ts';

export type Labels = Readonly<Record<string, string>>;

/** Labels of a namespace; undefined when it does not exist. */
export type NamespaceLabels = (namespace: string) => Labels | undefined;

/** A term of Pod affinity, ready to be used. */
export interface AffinityTerm {
  topologyKey: string;
  matches(pod: { namespace: string; labels: Labels }, namespaceLabels: NamespaceLabels): boolean;
}

export interface WeightedAffinityTerm {
  weight: number;
  term: AffinityTerm;
}

/** `owner` is the Pod that states the term: its namespace is meant where none is said. */
export function affinityTerm(term: PodAffinityTerm, owner: { namespace: string; labels: Labels }): AffinityTerm {
  const selector = labelSelectorMatcher(withLabelKeys(term, owner.labels));
  const byLabels: LabelMatcher | undefined = term.namespaceSelector && labelSelectorMatcher(term.namespaceSelector);
  const named = term.namespaces ?? [];
  const namespaces = named.length === 0 && !byLabels ? [owner.namespace] : named;
  return {
    topologyKey: term.topologyKey,
    matches(pod, namespaceLabels) {
      if (!namespaces.includes(pod.namespace)) {
        if (!byLabels) return false;
        const labels = namespaceLabels(pod.namespace);
        if (labels === undefined || !byLabels.matches(labels)) return false;
      }
      return selector.matches(pod.labels);
    },
  };
}

export function weightedTerm(weighted: WeightedPodAffinityTerm, owner: { namespace: string; labels: Labels }): WeightedAffinityTerm {
  return { weight: weighted.weight, term: affinityTerm(weighted.podAffinityTerm, owner) };
}

/** The selector with what the Pod's own labels say for the keys that are to match or to differ. */
export function withLabelKeys(
  { labelSelector, matchLabelKeys, mismatchLabelKeys }: Pick<PodAffinityTerm, 'labelSelector' | 'matchLabelKeys' | 'mismatchLabelKeys'>,
  labels: Labels,
): LabelSelector | undefined {
  const added: LabelExpression[] = [];
  for (const key of matchLabelKeys ?? []) if (Object.hasOwn(labels, key)) added.push({ key, operator: 'In', values: [labels[key]] });
  for (const key of mismatchLabelKeys ?? []) if (Object.hasOwn(labels, key)) added.push({ key, operator: 'NotIn', values: [labels[key]] });
  if (!labelSelector || added.length === 0) return labelSelector;
  return { ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), ...added] };
}
