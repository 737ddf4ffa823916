import type { Json, KubeObject } from '../../../../kube/object.ts';
import { isActive, isReady, readySince } from '../../workload/model/pod-state.ts';

const PHASE_ORDER: Record<string, number> = { Pending: 0, Unknown: 1, Running: 2 };

/**
 * The `count` Pods that are missed least: not placed, not running, not ready, cheap by annotation, doubled up on a node with `related` Pods,
 * ready for the shortest time, restarted most, youngest. Ages count in powers of two, so that equals go in an order nobody can predict.
 */
export function podsToDelete(pods: readonly KubeObject[], related: readonly KubeObject[], count: number, now: number): KubeObject[] {
  if (count >= pods.length) return [...pods];
  const onNode = new Map<string, number>();
  for (const pod of related) {
    if (isActive(pod)) onNode.set(pod.spec?.nodeName ?? '', (onNode.get(pod.spec?.nodeName ?? '') ?? 0) + 1);
  }
  const ranked = pods.map((pod) => ({ pod, colocated: onNode.get(pod.spec?.nodeName ?? '') ?? 0 }));
  ranked.sort((a, b) => comparePods(a.pod, b.pod, now, b.colocated - a.colocated));
  return ranked.slice(0, count).map(({ pod }) => pod);
}

/** Below 0 when `a` goes first. `byRank` decides between what state leaves open. */
export function comparePods(a: KubeObject, b: KubeObject, now: number, byRank = 0): number {
  const placed = Number(Boolean(a.spec?.nodeName)) - Number(Boolean(b.spec?.nodeName));
  if (placed !== 0) return placed;
  const phase = (PHASE_ORDER[a.status?.phase] ?? 0) - (PHASE_ORDER[b.status?.phase] ?? 0);
  if (phase !== 0) return phase;
  const ready = Number(isReady(a)) - Number(isReady(b));
  if (ready !== 0) return ready;
  const cost = deletionCost(a) - deletionCost(b);
  if (cost !== 0) return cost;
  if (byRank !== 0) return byRank;
  if (isReady(a)) {
    const since = compareAges(readySince(a), readySince(b), a, b, now);
    if (since !== 0) return since;
  }
  const restarts = compareRestarts(a, b);
  if (restarts !== 0) return restarts;
  return compareAges(created(a), created(b), a, b, now);
}

function compareAges(timeA: number | undefined, timeB: number | undefined, a: KubeObject, b: KubeObject, now: number): number {
  if (timeA === timeB) return 0;
  if (timeA === undefined) return -1;
  if (timeB === undefined) return 1;
  const rank = logAge(timeA, now) - logAge(timeB, now);
  if (rank !== 0) return rank;
  return (a.metadata.uid ?? '') < (b.metadata.uid ?? '') ? -1 : 1;
}

function logAge(time: number, now: number): number {
  // In nanoseconds, as upstream, so that the steps fall on the same ages.
  return now > time ? Math.floor(Math.log2((now - time) * 1e6)) : -1;
}

function deletionCost(pod: KubeObject): number {
  const text = pod.metadata.annotations?.['controller.kubernetes.io/pod-deletion-cost'];
  return text !== undefined && /^(?:0|-?[1-9][0-9]*)$/.test(text) ? Number(text) : 0;
}

function compareRestarts(a: KubeObject, b: KubeObject): number {
  return mostRestarts(b.status?.containerStatuses) - mostRestarts(a.status?.containerStatuses) || sidecarRestarts(b) - sidecarRestarts(a);
}

function mostRestarts(statuses: Json[] = []): number {
  return statuses.reduce((most: number, { restartCount = 0 }: Json) => Math.max(most, restartCount), 0);
}

function sidecarRestarts(pod: KubeObject): number {
  const sidecars = new Set((pod.spec?.initContainers ?? []).filter((c: Json) => c.restartPolicy === 'Always').map((c: Json) => c.name));
  return mostRestarts((pod.status?.initContainerStatuses ?? []).filter((status: Json) => sidecars.has(status.name)));
}

function created(pod: KubeObject): number | undefined {
  return pod.metadata.creationTimestamp ? Date.parse(pod.metadata.creationTimestamp) : undefined;
}
