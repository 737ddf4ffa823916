import type { Json, KubeObject } from '../../../../kube/object.ts';
import { podFromTemplate, type NewObject } from '../../workload/model/pod-from-template.ts';
import { daemonTolerations } from './eligibility.ts';

export const HASH_LABEL = 'controller-revision-hash';
const GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation';
const GENERATION_LABEL = 'pod-template-generation';

/** A Pod of the set for one node. */
export function daemonPod(set: KubeObject, hash: string, node: string): NewObject {
  const pod = podFromTemplate(set.spec.template, set);
  const generation = set.metadata.annotations?.[GENERATION_ANNOTATION];
  pod.metadata.labels = { ...pod.metadata.labels, ...(generation ? { [GENERATION_LABEL]: generation } : {}), [HASH_LABEL]: hash };
  pod.spec.tolerations = daemonTolerations(pod.spec);
  const terms = { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }] };
  const { affinity } = pod.spec;
  // The template's own requirements were looked at when the node was chosen.
  const nodeAffinity = { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: terms };
  pod.spec.affinity = { ...affinity, nodeAffinity };
  return pod;
}

/** The node a Pod is on, or is meant for. */
export function targetNode(pod: KubeObject): string | undefined {
  if (pod.spec?.nodeName) return pod.spec.nodeName;
  const terms: Json[] = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  for (const { matchFields = [] } of terms) {
    const field = matchFields.find(({ key, operator }: Json) => key === 'metadata.name' && operator === 'In');
    if (field) return field.values.length === 1 ? field.values[0] : undefined;
  }
  return undefined;
}

export function isUpdated(set: KubeObject, pod: KubeObject, hash: string): boolean {
  const labels = pod.metadata.labels ?? {};
  const generation = set.metadata.annotations?.[GENERATION_ANNOTATION];
  return labels[HASH_LABEL] === hash || (generation !== undefined && labels[GENERATION_LABEL] === generation);
}

/** Placed ones first, then the oldest. */
export function byPlacementAndAge(a: KubeObject, b: KubeObject): number {
  const placed = Number(Boolean(b.spec?.nodeName)) - Number(Boolean(a.spec?.nodeName));
  if (placed !== 0) return placed;
  const [timeA = '', timeB = ''] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  if (timeA !== timeB) return timeA < timeB ? -1 : 1;
  return a.metadata.name! < b.metadata.name! ? -1 : 1;
}
