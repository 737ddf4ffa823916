import type { KubeObject } from '../../../kube/object.ts';
import { apiServiceName } from './api-service.ts';

/** Group and version priorities of kube-apiserver: the order of groups in discovery, the preferred version of a group. */
const PRIORITIES: Record<string, [group: number, versions: Record<string, number>]> = {
  '': [18000, { v1: 1 }],
  apps: [17800, { v1: 15 }],
  'events.k8s.io': [17750, { v1: 15, v1beta1: 5 }],
  'authentication.k8s.io': [17700, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  'authorization.k8s.io': [17600, { v1: 15 }],
  autoscaling: [17500, { v1: 15, v2: 30 }],
  batch: [17400, { v1: 15 }],
  'certificates.k8s.io': [17300, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  'networking.k8s.io': [17200, { v1: 15, v1beta1: 9 }],
  policy: [17100, { v1: 15 }],
  'rbac.authorization.k8s.io': [17000, { v1: 15 }],
  'storage.k8s.io': [16800, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  'apiextensions.k8s.io': [16700, { v1: 15 }],
  'admissionregistration.k8s.io': [16700, { v1: 15, v1beta1: 12, v1alpha1: 9 }],
  'scheduling.k8s.io': [16600, { v1: 15, v1alpha1: 1 }],
  'coordination.k8s.io': [16500, { v1: 15, v1beta1: 13, v1alpha2: 12 }],
  'node.k8s.io': [16300, { v1: 15 }],
  'discovery.k8s.io': [16200, { v1: 15 }],
  'resource.k8s.io': [16200, { v1: 21, v1beta2: 15, v1beta1: 9, v1alpha3: 1 }],
  'flowcontrol.apiserver.k8s.io': [16100, { v1: 21 }],
  'internal.apiserver.k8s.io': [16000, { v1alpha1: 9 }],
  'storagemigration.k8s.io': [15800, { v1beta1: 9 }],
};
/** CRDs come after everything else; among their versions the kube-like order decides. */
const CUSTOM_PRIORITY = { group: 1000, version: 100 };
export const AUTOMANAGED_LABEL = 'kube-aggregator.kubernetes.io/automanaged';

export interface GroupVersion {
  group: string;
  version: string;
}

/** The APIService of a built-in version; undefined for the aggregator's own group, which has none. */
export function builtInApiService({ group, version }: GroupVersion): KubeObject | undefined {
  const known = PRIORITIES[group];
  const priority = known?.[1][version];
  if (priority === undefined) return undefined;
  return localApiService({ group, version }, 'onstart', known[0], priority);
}

export function customApiService(groupVersion: GroupVersion): KubeObject {
  return localApiService(groupVersion, 'true', CUSTOM_PRIORITY.group, CUSTOM_PRIORITY.version);
}

function localApiService(
  { group, version }: GroupVersion,
  automanaged: string,
  groupPriority: number,
  versionPriority: number,
): KubeObject {
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: apiServiceName(group, version), labels: { [AUTOMANAGED_LABEL]: automanaged } },
    spec: { ...(group !== '' && { group }), version, groupPriorityMinimum: groupPriority, versionPriority },
  };
}

export type Registration = { create: KubeObject } | { update: KubeObject } | { remove: string };

/** What to do so that the local APIServices are there. What a person registered under one of the names stays as it is. */
export function registrations(desired: readonly KubeObject[], existing: readonly KubeObject[]): Registration[] {
  const wanted = new Map(desired.map((apiService) => [apiService.metadata.name!, apiService]));
  const found: Registration[] = [];
  for (const apiService of existing) {
    const name = apiService.metadata.name!;
    const target = wanted.get(name);
    wanted.delete(name);
    if (apiService.metadata.labels?.[AUTOMANAGED_LABEL] === undefined) continue;
    if (!target) found.push({ remove: name });
    else if (differs(apiService, target)) found.push({ update: target });
  }
  for (const apiService of wanted.values()) found.push({ create: apiService });
  return found;
}

function differs(existing: KubeObject, target: KubeObject): boolean {
  const fields = ['group', 'version', 'groupPriorityMinimum', 'versionPriority', 'service'];
  if (fields.some((field) => (existing.spec?.[field] ?? '') !== (target.spec[field] ?? ''))) return true;
  return existing.metadata.labels?.[AUTOMANAGED_LABEL] !== target.metadata.labels?.[AUTOMANAGED_LABEL];
}
