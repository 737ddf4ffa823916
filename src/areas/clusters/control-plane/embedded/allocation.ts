import type { ClusterRecord } from './cluster-folder.ts';

/** Below the ports that the kernel gives to connections, and below NodePorts: nobody takes one while its cluster sleeps. */
export const PORTS = { first: 20_000, last: 29_999 };
/** Above all that systemd, container runtimes and `useradd` give out. */
export const USERS = { first: 1_900_000_000, last: 1_900_099_999 };

/** The first port that no cluster has and that was not `refused`. @returns undefined when there is none left */
export function freePort(records: Iterable<ClusterRecord>, refused: ReadonlySet<number>): number | undefined {
  const taken = new Set([...records].map(({ port }) => port));
  for (let port = PORTS.first; port <= PORTS.last; port++) if (!taken.has(port) && !refused.has(port)) return port;
  return undefined;
}

/** The first user that no cluster has. @returns undefined when there is none left */
export function freeUser(records: Iterable<ClusterRecord>): number | undefined {
  const taken = new Set([...records].map(({ user }) => user));
  for (let user = USERS.first; user <= USERS.last; user++) if (!taken.has(user)) return user;
  return undefined;
}
