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
  /** The tenant's cluster, while it answers. */
  home?: { cluster: string; hasWorkers: boolean };
}

export type Place =
  /** `kept`: why, although its tenant lives in a cluster. */
  { in: 'host'; kept?: string } | { in: 'cluster'; cluster: string; isReachable: boolean };

/** One that answers in a cluster stays there as long as its tenant does, whatever becomes of workers: elsewhere is another wall. */
export function choosePlace({ tenantIn, servedIn, isServed, unable, home }: PlaceFacts): Place {
  if (tenantIn === undefined) return { in: 'host' };
  if (unable !== undefined) return { in: 'host', kept: unable };
  const there: Place = { in: 'cluster', cluster: tenantIn, isReachable: home?.cluster === tenantIn };
  if (servedIn === tenantIn) return there;
  if (!there.isReachable) return isServed ? { in: 'host' } : there;
  return home!.hasWorkers ? there : { in: 'host', kept: `cluster "${tenantIn}" has no worker` };
}
