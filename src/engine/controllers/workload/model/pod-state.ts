import type { Json, KubeObject } from '../../../../kube/object.ts';

export function isTerminal(pod: KubeObject): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** Neither finished nor going. */
export function isActive(pod: KubeObject): boolean {
  return !isTerminal(pod) && pod.metadata.deletionTimestamp === undefined;
}

export function isTerminating(pod: KubeObject): boolean {
  return !isTerminal(pod) && pod.metadata.deletionTimestamp !== undefined;
}

export function isReady(pod: KubeObject): boolean {
  return readyCondition(pod)?.status === 'True';
}

/** Since when the Pod is ready, in milliseconds since the epoch; undefined when it is not or nobody said. */
export function readySince(pod: KubeObject): number | undefined {
  const condition = readyCondition(pod);
  return condition?.status === 'True' && condition.lastTransitionTime ? Date.parse(condition.lastTransitionTime) : undefined;
}

/** Ready for at least so long. */
export function isAvailable(pod: KubeObject, minReadySeconds: number, now: number): boolean {
  if (!isReady(pod)) return false;
  if (minReadySeconds === 0) return true;
  const since = readySince(pod);
  return since !== undefined && since + minReadySeconds * 1000 <= now;
}

/** Milliseconds until the next ready Pod becomes available; undefined when none waits for that. */
export function nextAvailability(pods: readonly KubeObject[], minReadySeconds: number, now: number): number | undefined {
  let next: number | undefined;
  for (const pod of pods) {
    const since = readySince(pod);
    const left = since === undefined ? 0 : since + minReadySeconds * 1000 - now;
    if (left > 0 && (next === undefined || left < next)) next = left;
  }
  return next;
}

function readyCondition(pod: KubeObject): Json {
  return (pod.status?.conditions ?? []).find(({ type }: Json) => type === 'Ready');
}
