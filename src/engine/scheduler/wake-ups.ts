import type { NamespaceLabels } from './model/affinity-terms.ts';
import { fits } from './model/filters/resources.ts';
import type { FilterName } from './model/filter.ts';
import type { NodeInfo, NodeObject } from './model/node-info.ts';
import type { PodInfo } from './model/pod-info.ts';
import type { ClassFailure } from './queue/pod-class.ts';

/** Whether what happened may help Pods that were refused so, given one of them. */
export type MayHelp = (failure: ClassFailure, example: PodInfo) => boolean;

/** A new node may help whoever was refused by nodes. */
export const nodeAdded: MayHelp = () => true;

/** What a change of a node may help; undefined when nobody. */
export function nodeChanged(before: NodeObject, after: NodeObject): MayHelp | undefined {
  const filters = new Set<FilterName>();
  const add = (...names: FilterName[]): void => names.forEach((name) => filters.add(name));
  if (differ(before.metadata.labels, after.metadata.labels)) add('NodeAffinity', 'PodTopologySpread', 'InterPodAffinity', 'VolumeBinding');
  if (differ(before.spec?.taints, after.spec?.taints)) add('TaintToleration', 'PodTopologySpread');
  if ((before.spec?.unschedulable ?? false) && !after.spec?.unschedulable) add('NodeUnschedulable');
  if (differ(before.status?.allocatable, after.status?.allocatable)) add('NodeResourcesFit');
  return filters.size > 0 ? byFilters(filters) : undefined;
}

/** A domain went: others may have become the emptiest. */
export const nodeRemoved: MayHelp = ({ filters }) => filters.has('PodTopologySpread');

/** A Pod left the node, or needs less of it. */
export function podLeft(pod: PodInfo, node: NodeInfo | undefined): MayHelp {
  return ({ filters }, example) => {
    if (filters.has('NodeResourcesFit') && node && fits(example, node)) return true;
    if (filters.has('NodePorts') && pod.hostPorts.length > 0) return true;
    if (filters.has('VolumeBinding') && pod.claims.length > 0) return true;
    return filters.has('InterPodAffinity') || (filters.has('PodTopologySpread') && spreads(example, pod));
  };
}

/** A Pod came to a node: somebody may want to be near it. */
export function podCame(pod: PodInfo, namespaceLabels: NamespaceLabels): MayHelp {
  return ({ filters }, example) =>
    (filters.has('InterPodAffinity') && example.affinity.required.some((term) => term.matches(pod, namespaceLabels))) ||
    (filters.has('PodTopologySpread') && spreads(example, pod));
}

/** Labels of a Pod on a node changed, or those of a namespace. */
export const labelsChanged: MayHelp = ({ filters }) => filters.has('InterPodAffinity') || filters.has('PodTopologySpread');

export const volumesChanged: MayHelp = ({ filters }) => filters.has('VolumeBinding');

/** Room that was kept for somebody is free again. */
export const promiseWithdrawn: MayHelp = byFilters(
  new Set<FilterName>(['NodeResourcesFit', 'NodePorts', 'InterPodAffinity', 'PodTopologySpread']),
);

function byFilters(wanted: ReadonlySet<FilterName>): MayHelp {
  return ({ filters }) => {
    for (const filter of filters) if (wanted.has(filter)) return true;
    return false;
  };
}

function spreads(example: PodInfo, pod: PodInfo): boolean {
  return example.namespace === pod.namespace && example.hardSpread.some(({ selector }) => selector.matches(pod.labels));
}

export function differ(a: unknown, b: unknown): boolean {
  return a !== b && JSON.stringify(a) !== JSON.stringify(b);
}
