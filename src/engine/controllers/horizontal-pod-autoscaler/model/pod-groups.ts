import { findCondition } from '../../../../kube/conditions.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { PodMetrics } from './usage.ts';

/** After its start a Pod's CPU is believed only as far as it was measured while the Pod was ready. */
const CPU_INITIALIZATION_MS = 5 * 60_000;
/** A Pod that became unready later than this after its start has been ready once. */
const INITIAL_READINESS_MS = 30_000;

export interface PodGroups {
  ready: number;
  /** Not ready, or not ready for long enough to be believed. */
  unready: string[];
  /** Nobody knows what they use. */
  missing: string[];
  /** On their way out. */
  ignored: string[];
}

/** Which Pods count how, for a metric. Only CPU is distrusted at the start of a Pod: starting is what uses it. */
export function groupPods(pods: readonly KubeObject[], metrics: PodMetrics, resource: string, now: number): PodGroups {
  const groups: PodGroups = { ready: 0, unready: [], missing: [], ignored: [] };
  for (const pod of pods) {
    const name = pod.metadata.name!;
    const metric = metrics.get(name);
    if (pod.metadata.deletionTimestamp !== undefined || pod.status?.phase === 'Failed') groups.ignored.push(name);
    else if ((pod.status?.phase ?? 'Pending') === 'Pending') groups.unready.push(name);
    else if (metric === undefined) groups.missing.push(name);
    else if (resource === 'cpu' && isInitializing(pod, metric, now)) groups.unready.push(name);
    else groups.ready++;
  }
  return groups;
}

function isInitializing({ status }: KubeObject, metric: { atMs: number; windowMs: number }, now: number): boolean {
  const ready: Json = findCondition(status?.conditions, 'Ready');
  if (ready === undefined || status?.startTime === undefined) return true;
  const started = Date.parse(status.startTime);
  const changed = Date.parse(ready.lastTransitionTime ?? 0);
  if (started + CPU_INITIALIZATION_MS > now) return ready.status === 'False' || metric.atMs < changed + metric.windowMs;
  return ready.status === 'False' && started + INITIAL_READINESS_MS > changed;
}

/** @throws Error when there are no Pods at all */
export function countReady(pods: readonly KubeObject[]): number {
  if (pods.length === 0) throw new Error('no pods returned by selector while calculating replica count');
  return pods.filter(({ status }) => status?.phase === 'Running' && findCondition<Json>(status.conditions, 'Ready')?.status === 'True')
    .length;
}
