import { scaledValue } from '../../../../kube/int-or-string.ts';
import type { KubeObject } from '../../../../kube/object.ts';

export const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas';
export const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas';

/** A new size for a ReplicaSet. */
export interface Resize {
  set: KubeObject;
  replicas: number;
}

export function replicasOf(object: KubeObject): number {
  return object.spec?.replicas ?? 1;
}

export function totalReplicas(sets: readonly KubeObject[]): number {
  return sets.reduce((sum, set) => sum + replicasOf(set), 0);
}

/** The sum of a count in the status of all sets. */
export function totalStatus(sets: readonly KubeObject[], field: string): number {
  return sets.reduce((sum, set) => sum + (set.status?.[field] ?? 0), 0);
}

export function activeSets(sets: readonly KubeObject[]): KubeObject[] {
  return sets.filter((set) => replicasOf(set) > 0);
}

export function isRollingUpdate(deployment: KubeObject): boolean {
  return deployment.spec.strategy?.type !== 'Recreate';
}

/** How many Pods more, and how many fewer, than asked for there may be. Both being nothing would stop every rollout. */
function fenceposts(deployment: KubeObject): { surge: number; unavailable: number } {
  const { maxSurge = 0, maxUnavailable = 0 } = deployment.spec.strategy?.rollingUpdate ?? {};
  const surge = scaledValue(maxSurge, replicasOf(deployment), 'up');
  const unavailable = scaledValue(maxUnavailable, replicasOf(deployment), 'down');
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

export function maxSurge(deployment: KubeObject): number {
  return isRollingUpdate(deployment) ? fenceposts(deployment).surge : 0;
}

export function maxUnavailable(deployment: KubeObject): number {
  if (!isRollingUpdate(deployment) || replicasOf(deployment) === 0) return 0;
  return Math.min(fenceposts(deployment).unavailable, replicasOf(deployment));
}

/** The size that the new set may have now, given all sets. */
export function newSetSize(deployment: KubeObject, all: readonly KubeObject[], current: number): number {
  const wanted = replicasOf(deployment);
  if (!isRollingUpdate(deployment)) return wanted;
  const { maxSurge: surge = 0 } = deployment.spec.strategy?.rollingUpdate ?? {};
  const room = wanted + scaledValue(surge, wanted, 'up') - totalReplicas(all);
  return room <= 0 ? current : current + Math.min(room, wanted - current);
}

/** Which old sets may shrink now: first what is unhealthy anyway, then what the availability of the new set allows. */
export function shrinkOldSets(deployment: KubeObject, newSet: KubeObject, old: readonly KubeObject[]): Resize[] {
  const active = activeSets(old).sort(byCreation);
  const minAvailable = replicasOf(deployment) - maxUnavailable(deployment);
  const newUnavailable = replicasOf(newSet) - (newSet.status?.availableReplicas ?? 0);
  const allowed = totalReplicas([...active, newSet]) - minAvailable - newUnavailable;
  if (active.length === 0 || allowed <= 0) return [];
  const sizes = new Map(active.map((set) => [set, replicasOf(set)]));
  let cleaned = 0;
  for (const set of active) {
    const unhealthy = sizes.get(set)! - (set.status?.availableReplicas ?? 0);
    const count = Math.max(0, Math.min(allowed - cleaned, unhealthy));
    sizes.set(set, sizes.get(set)! - count);
    cleaned += count;
  }
  let spare = [...active, newSet].reduce((sum, set) => sum + surelyAvailable(set), 0) - minAvailable;
  for (const set of active) {
    const count = Math.max(0, Math.min(spare, sizes.get(set)!));
    sizes.set(set, sizes.get(set)! - count);
    spare -= count;
  }
  return active.flatMap((set) => (sizes.get(set) === replicasOf(set) ? [] : [{ set, replicas: sizes.get(set)! }]));
}

/**
 * A set that was just shrunk still reports the Pods that are about to go. Counting them, as Kubernetes does, could shrink the old sets
 * twice for one new Pod.
 */
function surelyAvailable(set: KubeObject): number {
  return Math.min(set.status?.availableReplicas ?? 0, replicasOf(set));
}

export function byCreation(a: KubeObject, b: KubeObject): number {
  const [timeA = '', timeB = ''] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  if (timeA !== timeB) return timeA < timeB ? -1 : 1;
  return a.metadata.name! < b.metadata.name! ? -1 : 1;
}
