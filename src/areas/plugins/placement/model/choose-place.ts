/** What is known when it has to be said where a plugin runs. */
export interface PlaceFacts {
  /** The cluster that its tenant lives in; undefined: the host. */
  tenantIn?: string;
  /** The cluster that requests go to now; undefined: the host. */
  servedIn?: string;
  /** Requests go somewhere. */
  isServed: boolean;
  /** Why no cluster will do for it. */
  unable?: string;
  /** Why nothing can be concluded from what is in the cluster. */
  surplus?: string;
  /** The tenant's cluster, while it answers. */
  home?: { cluster: string; hasWorkers: boolean };
}

export type Place =
  /** `kept`: why, although its tenant lives in a cluster. */
  | { in: 'host'; kept?: string }
  /** `isReachable`: what is there can be gone by; `surplus`: why not, although it answers. */
  | { in: 'cluster'; cluster: string; isReachable: boolean; surplus?: string };

/**
 * One that answers in a cluster stays there as long as its tenant does, whatever becomes of workers, and whatever its administrators fill it with:
 * elsewhere is another wall.
 */
export function choosePlace({ tenantIn, servedIn, isServed, unable, surplus, home }: PlaceFacts): Place {
  if (tenantIn === undefined) return { in: 'host' };
  if (unable !== undefined) return { in: 'host', kept: unable };
  const there: Place = { in: 'cluster', cluster: tenantIn, isReachable: home?.cluster === tenantIn };
  if (servedIn === tenantIn) return surplus === undefined ? there : { ...there, isReachable: false, surplus };
  if (surplus !== undefined) return { in: 'host', kept: surplus };
  if (!there.isReachable) return isServed ? { in: 'host' } : there;
  return home!.hasWorkers ? there : { in: 'host', kept: `cluster "${tenantIn}" has no worker` };
}
