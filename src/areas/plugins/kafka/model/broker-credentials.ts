import { SLOTS, userOf, type Slot } from './event-names.ts';
import type { UserPassword } from './wanted-events.ts';

/** How long a password is given out. */
export const ROTATE_AFTER_MS = 24 * 3_600_000;
/** How long the user before still holds, for whoever read its password. */
export const OVERLAP_MS = ROTATE_AFTER_MS;

/** Who a plugin is at the broker. */
export interface BrokerCredentials {
  slot: Slot;
  password: string;
  since: number;
  /** Until when the user of the other slot holds. */
  otherUntil: number;
  /** The request for new ones that these answer. */
  request: string;
}

export interface RotationFacts {
  now: number;
  request: string;
}

/** The credentials to have now: those that are there, unless it is time for others. */
export function nextCredentials(
  present: BrokerCredentials | undefined,
  facts: RotationFacts,
  newPassword: () => string,
): BrokerCredentials {
  const { now, request } = facts;
  if (!present) return { slot: SLOTS[0], password: newPassword(), since: now, otherUntil: 0, request };
  if (!isRotationDue(present, facts)) return present;
  const slot = present.slot === SLOTS[0] ? SLOTS[1] : SLOTS[0];
  return { slot, password: newPassword(), since: now, otherUntil: now + OVERLAP_MS, request };
}

/** A request is heard at once, even if the user before that one ends early by it. */
export function isRotationDue({ since, request }: BrokerCredentials, facts: RotationFacts): boolean {
  return facts.now - since >= ROTATE_AFTER_MS || facts.request !== request;
}

/** What each of the plugin's users has while it has these credentials. */
export function accessWith(
  { slot, password, otherUntil }: BrokerCredentials,
  tenant: string,
  plugin: string,
  now: number,
): (user: string) => UserPassword {
  const current = userOf(tenant, plugin, slot);
  return (user) => {
    if (user === current) return { password };
    return now < otherUntil ? 'kept' : 'none';
  };
}
