import type { KubeObject } from '../../../../kube/object.ts';
import {
  activeSets,
  byCreation,
  DESIRED_REPLICAS,
  isRollingUpdate,
  MAX_REPLICAS,
  maxSurge,
  replicasOf,
  totalReplicas,
  type Resize,
} from './sizes.ts';

/** Whether spec.replicas changed since the sets were last sized for it. */
export function isScaled(deployment: KubeObject, sets: readonly KubeObject[]): boolean {
  return activeSets(sets).some((set) => {
    const desired = countIn(set, DESIRED_REPLICAS);
    return desired !== undefined && desired !== replicasOf(deployment);
  });
}

/**
 * New sizes after spec.replicas changed, or while the rollout is paused. Scaling must not hasten the rollout: with several sets in use the
 * difference is spread over them in proportion, so that a bad template keeps its share.
 */
export function scaleAll(deployment: KubeObject, newSet: KubeObject | undefined, old: readonly KubeObject[]): Resize[] {
  const all = newSet ? [...old, newSet] : [...old];
  const only = activeOrLatest(newSet, old);
  if (only) return replicasOf(only) === replicasOf(deployment) ? [] : [{ set: only, replicas: replicasOf(deployment) }];
  if (newSet && isSaturated(deployment, newSet)) return activeSets(old).map((set) => ({ set, replicas: 0 }));
  return isRollingUpdate(deployment) ? inProportion(deployment, activeSets(all)) : [];
}

function inProportion(deployment: KubeObject, sets: KubeObject[]): Resize[] {
  const wanted = replicasOf(deployment);
  const toAdd = (wanted > 0 ? wanted + maxSurge(deployment) : 0) - totalReplicas(sets);
  // Between sets of the same size the newer one grows first, and the older one shrinks first.
  sets.sort((a, b) => replicasOf(b) - replicasOf(a) || (toAdd > 0 ? byCreation(b, a) : byCreation(a, b)));
  let added = 0;
  const sizes = sets.map((set) => {
    const share = toAdd === 0 || toAdd === added ? 0 : shareOf(set, deployment);
    const change = toAdd > 0 ? Math.min(share, toAdd - added) : toAdd < 0 ? Math.max(share, toAdd - added) : 0;
    added += change;
    return { set, replicas: replicasOf(set) + change };
  });
  // What rounding left over goes to the largest.
  if (toAdd !== 0 && sizes.length > 0) sizes[0].replicas = Math.max(0, sizes[0].replicas + toAdd - added);
  return sizes;
}

function shareOf(set: KubeObject, deployment: KubeObject): number {
  const size = replicasOf(set);
  if (replicasOf(deployment) === 0) return -size;
  const before = countIn(set, MAX_REPLICAS) || deployment.status?.replicas || 0;
  if (before === 0) return 0;
  return Math.round((size * (replicasOf(deployment) + maxSurge(deployment))) / before) - size;
}

/** The one set in use, or the newest when none is; undefined when several are. */
function activeOrLatest(newSet: KubeObject | undefined, old: readonly KubeObject[]): KubeObject | undefined {
  const active = activeSets(newSet ? [...old, newSet] : old);
  if (active.length === 1) return active[0];
  if (active.length > 1) return undefined;
  return newSet ?? [...old].sort(byCreation).at(-1);
}

function isSaturated(deployment: KubeObject, set: KubeObject): boolean {
  const wanted = replicasOf(deployment);
  return replicasOf(set) === wanted && countIn(set, DESIRED_REPLICAS) === wanted && (set.status?.availableReplicas ?? 0) === wanted;
}

function countIn(set: KubeObject, annotation: string): number | undefined {
  const text = set.metadata.annotations?.[annotation];
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}
