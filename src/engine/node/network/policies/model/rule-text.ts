import type { Direction, Protocol } from './compiled-policy.ts';

/**
 * Rules look at the connection and not at the packet: who opened it (`ct original`), who answers and on which port (`ct reply`, which is
 * after the translation of a Service's address). So the same rules judge both directions of every packet, and a connection whose rule is
 * gone is cut in both.
 */
const PEER: Record<Direction, string> = { ingress: 'ct original ip saddr', egress: 'ct reply ip saddr' };

export const MAPS: Record<Direction, string> = { ingress: 'ingress_of', egress: 'egress_of' };

export interface RuleMatch {
  /** With both, an address must be in the set and in the block. */
  peer?: { set?: string; block?: string; except?: readonly string[] };
  port?: { protocol: Protocol; first?: number; last?: number };
}

/** A rule that ends the search: the caller goes on with the connection allowed in this direction. */
export function ruleText(direction: Direction, { peer, port }: RuleMatch): string {
  const parts: string[] = [];
  const subject = PEER[direction];
  if (peer?.block !== undefined && !peer.block.endsWith('/0')) parts.push(`${subject} ${peer.block}`);
  for (const exception of peer?.except ?? []) parts.push(`${subject} != ${exception}`);
  if (peer?.set !== undefined) parts.push(`${subject} @${peer.set}`);
  if (port) {
    parts.push(`meta l4proto ${port.protocol}`);
    // One number or one range per rule: nft 1.0 reads a set of these ports in the wrong byte order.
    if (port.first !== undefined) {
      parts.push(`ct reply proto-src ${port.first === port.last || port.last === undefined ? port.first : `${port.first}-${port.last}`}`);
    }
  }
  return [...parts, 'return'].join(' ');
}

/** What stands at the end of a chain: nothing allowed it. */
export function deniedText(direction: Direction): string {
  return `goto denied_${direction}`;
}
