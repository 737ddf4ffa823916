import { createHash } from 'node:crypto';
import { ControlPlaneError } from '../control-planes.ts';
import type { ClusterRecord } from './cluster-folder.ts';

interface Range {
  first: number;
  size: number;
}

/** Below the ports that the kernel gives to connections, and below NodePorts: nobody takes one while its cluster sleeps. */
export const PORTS: Range = { first: 20_000, size: 10_000 };
/** Above all that systemd, container runtimes and `useradd` give out. */
export const USERS: Range = { first: 1_900_000_000, size: 100_000 };
/** Each is a pair of addresses out of a /16. */
export const LINKS: Range = { first: 0, size: 32_768 };

/** Gives out what no cluster of `root` has, nor was given out before. */
export class Allocation {
  readonly #root: string;
  readonly #ports: Set<number>;
  readonly #users: Set<number>;
  readonly #links: Set<number>;

  constructor(root: string, records: Iterable<ClusterRecord>, refusedPorts: Iterable<number> = []) {
    const all = [...records];
    this.#root = root;
    this.#ports = new Set([...refusedPorts, ...all.flatMap(portsOf)]);
    this.#users = new Set(all.flatMap(({ user }) => user ?? []));
    this.#links = new Set(all.flatMap(({ link }) => link ?? []));
  }

  port(): number {
    return this.#free(PORTS, this.#ports, 'port');
  }

  user(): number {
    return this.#free(USERS, this.#users, 'user');
  }

  /** For a process that no record names yet: from the other half, so that nobody else gets it meanwhile. */
  userAhead(): number {
    return this.#free(USERS, this.#users, 'user', USERS.size / 2);
  }

  /** The number of a link between the machine and a cluster's own network. */
  link(): number {
    return this.#free(LINKS, this.#links, 'address');
  }

  /** Other instances on this machine know nothing of ours: each begins somewhere else. */
  #free({ first, size }: Range, taken: Set<number>, what: string, offset = 0): number {
    const start = (createHash('sha256').update(this.#root).digest().readUInt32BE() % size) + offset;
    for (let step = 0; step < size; step++) {
      const candidate = first + ((start + step) % size);
      if (taken.has(candidate)) continue;
      taken.add(candidate);
      return candidate;
    }
    throw new ControlPlaneError('PortTaken', `there is no ${what} left for another cluster; delete one`);
  }
}

function portsOf({ port, tunnelPort, innerPorts = [] }: ClusterRecord): number[] {
  return [port, ...(tunnelPort === undefined ? [] : [tunnelPort]), ...innerPorts];
}
