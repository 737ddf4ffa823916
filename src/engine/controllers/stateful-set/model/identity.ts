import type { Json, KubeObject } from '../../../../kube/object.ts';
import { podFromTemplate, type NewObject } from '../../workload/model/pod-from-template.ts';

export const REVISION_LABEL = 'controller-revision-hash';
const NAME_LABEL = 'statefulset.kubernetes.io/pod-name';
const INDEX_LABEL = 'apps.kubernetes.io/pod-index';

/** The ordinal of a Pod of the set; -1 when its name says that it is none. */
export function ordinalOf(set: KubeObject, pod: KubeObject): number {
  const match = /^(.*)-(\d{1,9})$/.exec(pod.metadata.name ?? '');
  return match && match[1] === set.metadata.name ? Number(match[2]) : -1;
}

export function startOrdinal(set: KubeObject): number {
  return set.spec.ordinals?.start ?? 0;
}

export function isInRange(set: KubeObject, ordinal: number): boolean {
  return ordinal >= startOrdinal(set) && ordinal < startOrdinal(set) + (set.spec.replicas ?? 1);
}

export function claimName(set: KubeObject, template: Json, ordinal: number): string {
  return `${template.metadata.name}-${set.metadata.name}-${ordinal}`;
}

/** The claims of an ordinal as they are created. */
export function claimsOf(set: KubeObject, ordinal: number): NewObject[] {
  return (set.spec.volumeClaimTemplates ?? []).map((template: Json) => ({
    metadata: {
      name: claimName(set, template, ordinal),
      namespace: set.metadata.namespace,
      labels: { ...template.metadata.labels, ...set.spec.selector.matchLabels },
      annotations: template.metadata.annotations,
    },
    spec: template.spec,
  }));
}

export function statefulPod(set: KubeObject, template: Json, revision: string, ordinal: number): NewObject {
  const pod = podFromTemplate(template, set);
  const name = `${set.metadata.name}-${ordinal}`;
  delete pod.metadata.generateName;
  pod.metadata.name = name;
  pod.metadata.labels = { ...pod.metadata.labels, ...identityLabels(name, ordinal), [REVISION_LABEL]: revision };
  pod.spec.hostname = name;
  pod.spec.subdomain = set.spec.serviceName;
  pod.spec.volumes = volumesOf(set, ordinal, pod.spec.volumes);
  return pod;
}

export function identityLabels(name: string, ordinal: number): Record<string, string> {
  return { [NAME_LABEL]: name, [INDEX_LABEL]: String(ordinal) };
}

function volumesOf(set: KubeObject, ordinal: number, volumes: Json[] = []): Json[] {
  const templates: Json[] = set.spec.volumeClaimTemplates ?? [];
  const claimed = templates.map((template) => ({
    name: template.metadata.name,
    persistentVolumeClaim: { claimName: claimName(set, template, ordinal) },
  }));
  return [...claimed, ...volumes.filter(({ name }) => !claimed.some((volume) => volume.name === name))];
}

export function hasIdentity(pod: KubeObject): boolean {
  return pod.metadata.labels?.[NAME_LABEL] === pod.metadata.name;
}

export function revisionOf(pod: KubeObject): string {
  return pod.metadata.labels?.[REVISION_LABEL] ?? '';
}
