import { contains, ipv4Range } from '../../../../../kube/ipv4-range.ts';

/** Names that are of this machine, its site or its cluster, and never of the world (RFC 6761, 6762, 8375, and what people use). */
const INSIDE = [
  'cluster.local',
  'local',
  'localhost',
  'localdomain',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
  'test',
  'invalid',
  'onion',
];

const INSIDE_RANGES = ['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'].map(ipv4Range);
const REVERSE = '.in-addr.arpa';

/** Whether tenants may ask the machine's resolver for a name. It may know more than the world does; that is nobody's business. */
export function isOfTheWorld(name: string): boolean {
  const plain = name.toLowerCase().replace(/\.$/, '');
  if (plain.endsWith(REVERSE)) return !isInside(plain.slice(0, -REVERSE.length));
  if (plain.endsWith('.ip6.arpa')) return /^(.\.)*[23]\.ip6\.arpa$/.test(plain);
  // Names of one word are completed by whoever resolves them.
  if (!plain.includes('.')) return plain === '';
  return !INSIDE.some((suffix) => plain === suffix || plain.endsWith(`.${suffix}`));
}

function isInside(reversed: string): boolean {
  const octets = reversed.split('.').reverse();
  if (octets.length > 4 || octets.some((octet) => !/^\d{1,3}$/.test(octet) || Number(octet) > 255)) return true;
  const address = [...octets, '0', '0', '0'].slice(0, 4).join('.');
  return INSIDE_RANGES.some((range) => contains(range, address));
}
