import { createHash } from 'node:crypto';

/** Above those of control planes, which are above all that systemd, container runtimes and `useradd` give out. */
const USERS = { first: 1_900_100_000, size: 100_000 };
/** Of VPN gateways. */
export const GATEWAY_USERS = { first: 1_900_200_000, size: 100_000 };
/** Who serves names and images to workers: one process of each instance. */
export const SERVICE_USERS = { first: 1_900_300_000, size: 100_000 };

/** A user that nobody of `root` has. Other instances know nothing of ours: each begins somewhere else. @returns undefined when there is none left */
export function freeUser(root: string, taken: Iterable<number>, users = USERS): number | undefined {
  const used = new Set(taken);
  const start = createHash('sha256').update(root).digest().readUInt32BE() % users.size;
  for (let step = 0; step < users.size; step++) {
    const candidate = users.first + ((start + step) % users.size);
    if (!used.has(candidate)) return candidate;
  }
  return undefined;
}
