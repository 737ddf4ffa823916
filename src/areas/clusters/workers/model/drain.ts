import type { KubeObject } from '../../../../kube/object.ts';

const MIRROR = 'kubernetes.io/config.mirror';

/** Which Pods of a node are asked to go, and how many have to go in all. Those of DaemonSets would only come again. */
export function podsToEvict<T extends KubeObject>(pods: readonly T[]): { left: number; evict: T[] } {
  const staying = pods.filter(
    ({ metadata, status }) =>
      metadata.annotations?.[MIRROR] === undefined &&
      !metadata.ownerReferences?.some(({ kind, controller }) => controller === true && kind === 'DaemonSet') &&
      status?.phase !== 'Succeeded' &&
      status?.phase !== 'Failed',
  );
  return { left: staying.length, evict: staying.filter(({ metadata }) => metadata.deletionTimestamp === undefined) };
}
