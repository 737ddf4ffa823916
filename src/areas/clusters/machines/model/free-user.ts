import { createHash } from 'node:crypto';

/** Above those of control planes, which are above all that systemd, container runtimes and `useradd` give out. */
const USERS = { first: 1_900_100_000, size: 100_000 };

/** A user that no machine of `root` has. Other instances know nothing of ours: each begins somewhere else. @returns undefined when there is none left */
export function freeUser(root: string, taken: Iterable<number>): number | undefined {
  const used = new Set(taken);
  const start = createHash('sha256').update(root).digest().readUInt32BE() % USERS.size;
  for (let step = 0; step < USERS.size; step++) {
    const candidate = USERS.first + ((start + step) % USERS.size);
    if (!used.has(candidate)) return candidate;
  }
  return undefined;
}
