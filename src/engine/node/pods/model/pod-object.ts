import type { Pod } from '../../../../client/kinds.ts';
import type { Container, ContainerStatus, PodSpec } from '../../../../kube/generated/core-v1.ts';
import type { PodReference } from '../../pod-reference.ts';

export type PodObject = NonNullable<(typeof Pod)['objectType']>;

export function referenceTo({ metadata }: PodObject): PodReference {
  return { namespace: metadata.namespace!, name: metadata.name!, uid: metadata.uid! };
}

/** How Kubernetes names a Pod in messages. */
export function podText({ metadata }: PodObject): string {
  return `${metadata.name}_${metadata.namespace}(${metadata.uid})`;
}

/** Once a Pod has succeeded or failed it never runs again. */
export function isTerminal(pod: PodObject): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** An init container that keeps running beside the main ones. */
export function isSidecar(container: Pick<Container, 'restartPolicy'>): boolean {
  return container.restartPolicy === 'Always';
}

export function sidecarsOf(spec: PodSpec): Container[] {
  return (spec.initContainers ?? []).filter(isSidecar);
}

/** Init, main and ephemeral containers. */
export function everyContainer(spec: PodSpec): Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
}

export function containerNamed(spec: PodSpec, name: string): Container | undefined {
  return everyContainer(spec).find((container) => container.name === name);
}

export function statusesOf(pod: PodObject): ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = pod.status ?? {};
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
}

/** Which part of the Pod an event is about. */
export function fieldPathOf(spec: PodSpec, name: string): string | undefined {
  if (spec.containers.some((container) => container.name === name)) return `spec.containers{${name}}`;
  if (spec.initContainers?.some((container) => container.name === name)) return `spec.initContainers{${name}}`;
  if (spec.ephemeralContainers?.some((container) => container.name === name)) return `spec.ephemeralContainers{${name}}`;
  return undefined;
}
