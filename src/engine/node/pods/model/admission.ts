import type { PodObject } from './pod-object.ts';

export interface Refusal {
  reason: string;
  message: string;
}

export interface NodeAbilities {
  driver: 'process' | 'oci';
  os: string;
  diskPressure: boolean;
  memoryPressure: boolean;
}

/** Why this node does not take a Pod that was sent to it; undefined when it does. A refused Pod has failed. */
export function whyRefused(pod: PodObject, node: NodeAbilities): Refusal | undefined {
  const spec = pod.spec!;
  if (spec.os && spec.os.name !== node.os) {
    return {
      reason: 'PodOSNotSupported',
      message: `Failed to admit pod as the OS field doesn't match node OS`,
    };
  }
  const unsupported = unsupportedFeature(pod, node);
  if (unsupported) return { reason: 'UnexpectedAdmissionError', message: unsupported };
  if (isCritical(pod)) return undefined;
  if (node.diskPressure) return { reason: 'Evicted', message: 'The node had condition: [DiskPressure]. ' };
  if (node.memoryPressure && pod.status?.qosClass === 'BestEffort' && !toleratesMemoryPressure(pod)) {
    return { reason: 'Evicted', message: 'The node had condition: [MemoryPressure]. ' };
  }
  return undefined;
}

function unsupportedFeature({ spec }: PodObject, { driver }: NodeAbilities): string | undefined {
  const cannot = (field: string, advice: string) => `Cannot run the Pod with "${field}": this node does not offer it; ${advice}`;
  if (spec!.shareProcessNamespace) return cannot('shareProcessNamespace', 'leave it out');
  if (spec!.hostUsers === false) return cannot('hostUsers: false', 'leave it out, or run as another user with runAsUser');
  if (spec!.resourceClaims?.length) return cannot('resourceClaims', 'use extended resources in requests and limits');
  if (spec!.runtimeClassName) return cannot('runtimeClassName', 'leave it out: the node has one runtime, chosen with --node');
  if (spec!.volumes?.some((volume) => volume.image)) return cannot('volumes.image', 'copy the files with an init container');
  const privileged = [...(spec!.initContainers ?? []), ...spec!.containers].some(({ securityContext }) => securityContext?.privileged);
  if (privileged && driver === 'process')
    return cannot('securityContext.privileged', 'start `tenantry up` as root with runc, crun or runsc');
  return undefined;
}

/** As in Kubernetes: what the system needs runs even under pressure. */
export function isCritical({ spec }: PodObject): boolean {
  return (spec!.priority ?? 0) >= 2_000_000_000;
}

function toleratesMemoryPressure({ spec }: PodObject): boolean {
  return (spec!.tolerations ?? []).some(
    ({ key, operator }) => (key === undefined && operator === 'Exists') || key === 'node.kubernetes.io/memory-pressure',
  );
}
