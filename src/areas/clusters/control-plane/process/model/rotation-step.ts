/** What was asked for of the certificates of a cluster: a number that is raised is one more request. */
export interface RotationWish {
  /** All certificates made anew. */
  certificates: number;
  /** New authorities, and a new key for service accounts. */
  authorities: number;
  /** Authorities of before are no longer trusted. */
  revoke: number;
}

export const NO_WISH: RotationWish = { certificates: 0, authorities: 0, revoke: 0 };

/** The authorities of a cluster, as they are on the disk. */
export interface RotationState {
  /** Which authorities sign: the first ones, the second ... */
  edition: number;
  /** When the first of those that sign ends, in milliseconds. */
  ends: number;
  /** Those that are trusted and sign nothing any more, and until when. */
  formers: readonly { edition: number; until: number }[];
  /** The requests that were done. */
  done: RotationWish;
}

export type RotationReason = 'Asked' | 'Expiring' | 'Expired';

export type RotationStep =
  | { do: 'rotate'; reason: RotationReason }
  | { do: 'forget'; editions: readonly number[] }
  | { do: 'reissue' }
  /** Until something is asked for, or this time. */
  | { do: 'nothing'; until: number };

const DAY_MS = 24 * 3600 * 1000;
/** Authorities are replaced so long before their end: all that they signed can end before they do. */
export const AUTHORITY_RENEWAL_MS = 2 * 365 * DAY_MS;

/** What is to be done next. One step at a time: each is one write to the disk, and whoever comes after a crash asks again. */
export function rotationStep({ ends, formers, done }: RotationState, wish: RotationWish, now: number): RotationStep {
  if (ends <= now) return { do: 'rotate', reason: 'Expired' };
  if (wish.authorities > done.authorities) return { do: 'rotate', reason: 'Asked' };
  const renewal = ends - AUTHORITY_RENEWAL_MS;
  if (renewal <= now) return { do: 'rotate', reason: 'Expiring' };
  // After what makes new ones: both in one request is a clean cut.
  if (wish.revoke > done.revoke) return { do: 'forget', editions: formers.map(({ edition }) => edition) };
  const ended = formers.filter(({ until }) => until <= now);
  if (ended.length > 0) return { do: 'forget', editions: ended.map(({ edition }) => edition) };
  if (wish.certificates > done.certificates) return { do: 'reissue' };
  return { do: 'nothing', until: Math.min(renewal, ...formers.map(({ until }) => until)) };
}

/**
 * How long former authorities are trusted: until everything that they can have signed has ended, or they have. Those that have ended already stay as
 * long: they are good for nothing, unless it was the clock that was wrong.
 */
export function trustedUntil(formerEnds: number, leafLifetimeMs: number, now: number): number {
  const all = now + leafLifetimeMs;
  return formerEnds > now ? Math.min(formerEnds, all) : all;
}
