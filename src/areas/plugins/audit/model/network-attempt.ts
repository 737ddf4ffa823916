import type { Attempt } from './attempt.ts';
import type { Owner } from './database-attempt.ts';

/** `Denied TCP port 80 to 10.0.0.1 (Pod x): no egress rule of NetworkPolicy a allows it` */
const DENIAL =
  /^Denied (\S+(?: port \d+)?) (from|to) (\S+?)(?: \(Pod [^)]*\))?: no (ingress|egress) rule of (?:NetworkPolicy|the NetworkPolicies) (.+) allows it$/;

export interface NetworkDenial {
  /** The plugin whose Pod the denial is about. */
  owner: Owner;
  pod: string;
  note: string;
  at: number;
  count: number;
}

/** What a denied packet tells: going out it is the plugin's own attempt; coming in it is that of the Pod it comes from. */
export function networkAttempt(denial: NetworkDenial, byAddress: (address: string) => Owner | undefined): Attempt | undefined {
  const [, what, way, peer, direction, policies] = DENIAL.exec(denial.note) ?? [];
  if (what === undefined) return undefined;
  const { owner, pod, note: message, at, count } = denial;
  const rule = `networkpolicy:${direction}`;
  if (way === 'to') return { ...owner, kind: 'network', target: `${peer} ${what}`, rule, message, source: pod, at, count };
  const caller = byAddress(peer);
  if (!caller || (caller.tenant === owner.tenant && caller.plugin === owner.plugin)) return undefined;
  return { ...caller, kind: 'network', target: `Pod ${pod} ${what}`, rule, message: `stopped by ${policies}`, source: peer, at, count };
}
