import type { Json, KubeObject } from '../../../../kube/object.ts';
import { cidrContains, formatCidr, parseCidr, parseIp } from '../../../../kube/ip.ts';
import type { NetworkFacts } from './network-policies.ts';

/** Private and link-local ranges: where clusters have their Pods, Services and machines, and clouds their metadata. */
const PRIVATE = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
];

/** What is not the internet: everything private, and what the cluster's nodes and Pods have beyond that. */
export function excludedRanges(nodes: Iterable<KubeObject>): string[] {
  const ranges = PRIVATE.map((text) => parseCidr(text)!);
  const beyond = new Set<string>();
  for (const { spec, status } of nodes) {
    const addresses: string[] = (status?.addresses ?? [])
      .filter(({ type }: Json) => type === 'InternalIP' || type === 'ExternalIP')
      .map(({ address }: Json) => `${address}/${String(address).includes(':') ? 128 : 32}`);
    for (const text of [...(spec?.podCIDRs ?? []), ...addresses]) {
      const range = parseCidr(text);
      if (range && !ranges.some((known) => cidrContains(known, range.address))) beyond.add(formatCidr(range));
    }
  }
  return [...PRIVATE, ...[...beyond].sort()];
}

/** The Service `kubernetes` as Pods name it, and the addresses behind it, which is what policies of most networks see. */
export function apiAddresses(service: KubeObject | undefined, slices: Iterable<KubeObject>): NetworkFacts['api'] {
  const found = new Map<string, { cidr: string; port: number }>();
  const add = (address: string, port: number): void => {
    const ip = parseIp(address);
    if (ip) found.set(`${address}:${port}`, { cidr: `${address}/${ip.version === 4 ? 32 : 128}`, port });
  };
  for (const address of service?.spec?.clusterIPs ?? []) for (const { port } of service?.spec?.ports ?? []) add(address, port);
  for (const { endpoints, ports } of slices)
    for (const { addresses } of endpoints ?? [])
      for (const address of addresses ?? []) for (const { port } of ports ?? []) add(address, port);
  return [...found.keys()].sort().map((key) => found.get(key)!);
}
