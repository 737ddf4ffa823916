import { ipv4Range, overlap } from '../../../../kube/ipv4-range.ts';
import type { Vpc } from './vpc.ts';

/** Two VPCs that both asked for each other. The names are in order, so that a peering is the same whichever side looks. */
export interface Peering {
  vpcs: readonly [Vpc, Vpc];
}

/** What became of a VPC's wish. */
export type PeeringState =
  | { peer: string; state: 'Peered' }
  | { peer: string; state: 'Waiting'; message: string }
  | { peer: string; state: 'Refused'; message: string };

/** What became of each of a VPC's wishes, in their order. One side's wish alone does nothing, and tells nothing about the other. */
export function peeringStates(vpc: Vpc, byName: ReadonlyMap<string, Vpc>): PeeringState[] {
  return [...new Set(vpc.peers)].map((peer) => {
    const other = byName.get(peer);
    if (peer === vpc.name) return { peer, state: 'Refused', message: `Cannot peer VPC "${peer}": it is the same VPC; leave it out` };
    if (!other?.peers.includes(vpc.name)) {
      return { peer, state: 'Waiting', message: `Cannot peer VPC "${peer}" yet: it has not named ${vpc.name}; its owner has to agree` };
    }
    const clash = overlapping(vpc, other);
    return clash === undefined
      ? { peer, state: 'Peered' }
      : { peer, state: 'Refused', message: `Cannot peer VPC "${peer}": ${clash}; addresses must differ to be routed between VPCs` };
  });
}

export function peersOf(vpc: Vpc, byName: ReadonlyMap<string, Vpc>): Vpc[] {
  return peeringStates(vpc, byName)
    .filter(({ state }) => state === 'Peered')
    .map(({ peer }) => byName.get(peer)!);
}

export function agreedPeerings(byName: ReadonlyMap<string, Vpc>): Peering[] {
  return [...byName.values()].flatMap((vpc) =>
    peersOf(vpc, byName)
      .filter(({ name }) => vpc.name < name)
      .map((other): Peering => ({ vpcs: [vpc, other] })),
  );
}

/** Subnets are exchanged; what either side routes elsewhere already cannot lead to them. */
function overlapping(a: Vpc, b: Vpc): string | undefined {
  for (const [ours, others] of [
    [[...a.subnets, ...a.routes], b.subnets],
    [a.subnets, b.routes],
  ]) {
    for (const mine of ours) {
      const theirs = others.find(({ cidr }) => overlap(ipv4Range(cidr), ipv4Range(mine.cidr)));
      if (theirs) return `its ${theirs.cidr} overlaps ${mine.cidr}`;
    }
  }
  return undefined;
}
