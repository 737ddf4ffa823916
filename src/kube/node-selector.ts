import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from './generated/core-v1.ts';

/** What selectors see of a node. */
export interface SelectableNode {
  name: string;
  labels: Readonly<Record<string, string>>;
}

export type NodeMatcher = (node: SelectableNode) => boolean;

const INTEGER = /^[+-]?\d{1,19}$/;

function requirementMatcher({
  key,
  operator,
  values = [],
}: NodeSelectorRequirement): (labels: Readonly<Record<string, string>>) => boolean {
  // Labels come from JSON, where a key such as `constructor` is inherited: only own ones count.
  const has = (labels: Readonly<Record<string, string>>): boolean => Object.hasOwn(labels, key);
  switch (operator) {
    case 'In':
      return (labels) => has(labels) && values.includes(labels[key]);
    case 'NotIn':
      return (labels) => !has(labels) || !values.includes(labels[key]);
    case 'Exists':
      return has;
    case 'DoesNotExist':
      return (labels) => !has(labels);
    case 'Gt':
    case 'Lt': {
      const [bound] = values;
      if (values.length !== 1 || !INTEGER.test(bound)) return () => false;
      const limit = BigInt(bound);
      return (labels) => {
        if (!has(labels) || !INTEGER.test(labels[key])) return false;
        const value = BigInt(labels[key]);
        return operator === 'Gt' ? value > limit : value < limit;
      };
    }
    default:
      return () => false;
  }
}

/** All expressions and fields of a term must hold; a term without any selects nothing. The one field there is: `metadata.name`. */
export function nodeTermMatcher({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): NodeMatcher {
  if (matchExpressions.length === 0 && matchFields.length === 0) return () => false;
  const labels = matchExpressions.map(requirementMatcher);
  const fields = matchFields.map(requirementMatcher);
  return (node) => labels.every((check) => check(node.labels)) && fields.every((check) => check({ 'metadata.name': node.name }));
}

/** One of the terms must hold; no terms select nothing. */
export function nodeSelectorMatcher(selector: NodeSelector): NodeMatcher {
  const terms = (selector.nodeSelectorTerms ?? []).map(nodeTermMatcher);
  return terms.length === 1 ? terms[0] : (node) => terms.some((term) => term(node));
}

/** What a Pod requires of its node: `nodeSelector` and required node affinity. Undefined when it takes any. */
export function requiredNodeMatcher(spec: Pick<PodSpec, 'nodeSelector' | 'affinity'>): NodeMatcher | undefined {
  const pairs = Object.entries(spec.nodeSelector ?? {});
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (pairs.length === 0) return required && nodeSelectorMatcher(required);
  const affinity = required && nodeSelectorMatcher(required);
  return (node) => pairs.every(([key, value]) => node.labels[key] === value) && (affinity === undefined || affinity(node));
}

/** The only nodes that can satisfy the required node affinity, when it names them (as DaemonSets do); undefined when it does not. */
export function namedNodes(spec: Pick<PodSpec, 'affinity'>): Set<string> | undefined {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (!terms || terms.length === 0) return undefined;
  const names = new Set<string>();
  for (const term of terms) {
    const named = (term.matchFields ?? []).filter(({ key, operator }) => key === 'metadata.name' && operator === 'In');
    if (named.length === 0) return undefined;
    const [first, ...others] = named.map(({ values = [] }) => values);
    for (const name of first) if (others.every((values) => values.includes(name))) names.add(name);
  }
  return names;
}
