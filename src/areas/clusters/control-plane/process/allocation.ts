import { createHash } from 'node:crypto';
import type { ClusterRecord } from './cluster-folder.ts';

interface Range {
  first: number;
  size: number;
}

/** Below the ports that the kernel gives to connections, and below NodePorts: nobody takes one while its cluster sleeps. */
export const PORTS: Range = { first: 20_000, size: 10_000 };
/** Above all that systemd, container runtimes and `useradd` give out. */
export const USERS: Range = { first: 1_900_000_000, size: 100_000 };

/** A port that no cluster of `root` has and that was not `refused`. @returns undefined when there is none left */
export function freePort(root: string, records: Iterable<ClusterRecord>, refused: ReadonlySet<number>): number | undefined {
  return freeIn(PORTS, root, new Set([...refused, ...[...records].map(({ port }) => port)]));
}

/** A user that no cluster of `root` has. @returns undefined when there is none left */
export function freeUser(root: string, records: Iterable<ClusterRecord>): number | undefined {
  return freeIn(USERS, root, new Set([...records].flatMap(({ user }) => user ?? [])));
}

/** Other instances on this machine know nothing of ours: each begins somewhere else. */
function freeIn({ first, size }: Range, root: string, taken: ReadonlySet<number>): number | undefined {
  const start = createHash('sha256').update(root).digest().readUInt32BE() % size;
  for (let step = 0; step < size; step++) {
    const candidate = first + ((start + step) % size);
    if (!taken.has(candidate)) return candidate;
  }
  return undefined;
}
