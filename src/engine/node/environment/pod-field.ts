import { quote } from '../../../kube/go-text.ts';
import { isQualifiedName } from '../../../kube/names.ts';
import type { KubeObject } from '../../../kube/object.ts';

/** Addresses that the node knows before the status of the Pod says them. */
export interface PodAddresses {
  podIp: string;
  hostIp: string;
}

/** `fieldRef` of a variable. @throws Error in Kubernetes' words */
export function podFieldForVariable(pod: KubeObject, fieldPath: string, { podIp, hostIp }: PodAddresses): string {
  checkLabel(fieldPath);
  switch (fieldPath) {
    case 'spec.nodeName':
    case 'spec.host':
      return pod.spec?.nodeName ?? '';
    case 'spec.serviceAccountName':
      return pod.spec?.serviceAccountName ?? '';
    case 'status.hostIP':
    case 'status.hostIPs':
      return hostIp;
    case 'status.podIP':
    case 'status.podIPs':
      return podIp;
  }
  return podField(pod, fieldPath);
}

/** `fieldRef` of a file in a downwardAPI volume. @throws Error in Kubernetes' words */
export function podField({ metadata }: KubeObject, fieldPath: string): string {
  const subscripted = splitSubscript(fieldPath);
  if (subscripted) {
    const { path, subscript } = subscripted;
    if (path === 'metadata.annotations')
      return subscriptOf(metadata.annotations, subscript, isQualifiedName(subscript.toLowerCase()), fieldPath);
    if (path === 'metadata.labels') return subscriptOf(metadata.labels, subscript, isQualifiedName(subscript), fieldPath);
    throw new Error(`fieldPath ${quote(fieldPath)} does not support subscript`);
  }
  switch (fieldPath) {
    case 'metadata.annotations':
      return formatMap(metadata.annotations);
    case 'metadata.labels':
      return formatMap(metadata.labels);
    case 'metadata.name':
      return metadata.name ?? '';
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid ?? '';
  }
  throw new Error(`unsupported fieldPath: ${fieldPath}`);
}

/** `key="value"` lines in the order of the keys. */
export function formatMap(map: Readonly<Record<string, string>> = {}): string {
  return Object.keys(map)
    .toSorted()
    .map((key) => `${key}=${quote(map[key])}`)
    .join('\n');
}

const LABELS = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.host',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);

function checkLabel(fieldPath: string): void {
  const subscripted = splitSubscript(fieldPath);
  if (!subscripted) {
    if (!LABELS.has(fieldPath)) throw new Error(`field label not supported: ${fieldPath}`);
  } else if (subscripted.path !== 'metadata.annotations' && subscripted.path !== 'metadata.labels') {
    throw new Error(`field label does not support subscript: ${fieldPath}`);
  }
}

/** `metadata.labels['a']` in its parts. */
function splitSubscript(fieldPath: string): { path: string; subscript: string } | undefined {
  if (!fieldPath.endsWith("']")) return undefined;
  const text = fieldPath.slice(0, -2);
  const opens = text.indexOf("['");
  return opens > 0 ? { path: text.slice(0, opens), subscript: text.slice(opens + 2) } : undefined;
}

function subscriptOf(map: Readonly<Record<string, string>> = {}, key: string, problems: string[], fieldPath: string): string {
  if (problems.length > 0) throw new Error(`invalid key subscript in ${fieldPath}: ${problems.join(';')}`);
  return Object.hasOwn(map, key) ? map[key] : '';
}
