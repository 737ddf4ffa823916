import { addressAt, ipv4Range } from '../../../../../kube/ipv4-range.ts';

/** An address of a subnet that nobody has: from its end, because workers are given theirs from its beginning. */
export function freeBalancerAddress(cidr: string, used: ReadonlySet<string>): string | undefined {
  const range = ipv4Range(cidr);
  for (let offset = range.last - range.first - 1; offset > 0; offset--) {
    const address = addressAt(range, offset);
    if (!used.has(address)) return address;
  }
  return undefined;
}
