import { cidrContains, parseCidr, type Cidr } from '../../../kube/ip.ts';

/** Where machines, clusters and clouds keep what is not for everybody: this network, private, shared, loopback and link-local addresses. */
const PRIVATE = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::/127',
  'fc00::/7',
  'fe80::/10',
].map((text) => ({ text, range: parseCidr(text)! }));

/** Whether all of a range is private. */
export function isPrivate(cidr: string): boolean {
  const range = parseCidr(cidr);
  return range !== undefined && PRIVATE.some((each) => isWithin(range, each.range));
}

/** Whether a range is inside one of others. */
export function isInside(cidr: string, others: readonly string[]): boolean {
  const range = parseCidr(cidr);
  return range !== undefined && others.some((other) => isWithin(range, parseCidr(other)));
}

/** A wide range as a NetworkPolicy says it: the private ones inside of it are not meant. */
export function publicPart(cidr: string): { cidr: string; except?: string[] } {
  const range = parseCidr(cidr);
  const except = PRIVATE.filter((each) => range !== undefined && range.prefix < each.range.prefix && isWithin(each.range, range));
  return except.length === 0 ? { cidr } : { cidr, except: except.map(({ text }) => text) };
}

function isWithin(inner: Cidr, outer: Cidr | undefined): boolean {
  return outer !== undefined && inner.prefix >= outer.prefix && cidrContains(outer, inner.address);
}
