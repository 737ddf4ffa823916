import type { KubeObject } from '../../../kube/object.ts';

export interface ResolverSettings {
  nameservers: string[];
  searches: string[];
  options: string[];
}

export interface ResolvConfInput {
  /** Addresses of the cluster's DNS; none: Pods resolve as the machine does. */
  clusterDns: readonly string[];
  clusterDomain: string;
  /** The machine's own /etc/resolv.conf. */
  nodeResolvConf: string;
}

export interface ResolvConf {
  content: string;
  /** What the Pod asked for and did not get; for events. */
  notes: { reason: 'DNSConfigForming' | 'MissingClusterDNS'; message: string }[];
}

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;
const MAX_NAME_LENGTH = 253;

/** /etc/resolv.conf of a Pod, by its dnsPolicy and dnsConfig. */
export function podResolvConf(pod: KubeObject, input: ResolvConfInput): ResolvConf {
  const notes: ResolvConf['notes'] = [];
  const base = byPolicy(pod, input, notes);
  const wanted = pod.spec?.dnsConfig ? merged(base, pod.spec.dnsConfig) : base;
  const settings = { ...wanted, nameservers: fewNameservers(wanted.nameservers, notes), searches: fewSearches(wanted.searches, notes) };
  return { content: printed(settings), notes };
}

/** Of options written twice, and of search lines, the last one counts. */
export function parseResolvConf(text: string): ResolverSettings {
  const nameservers: string[] = [];
  let searches: string[] = [];
  const options = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    if (keyword === 'nameserver' && values.length > 0) nameservers.push(values[0]);
    else if (keyword === 'search') searches = values.filter((value) => value !== '.').map((value) => value.replace(/\.$/, ''));
    else if (keyword === 'options') for (const option of values) options.set(option.split(':')[0], option);
  }
  return { nameservers, searches, options: [...options.values()] };
}

function byPolicy({ metadata, spec }: KubeObject, input: ResolvConfInput, notes: ResolvConf['notes']): ResolverSettings {
  const policy: string = spec?.dnsPolicy ?? 'ClusterFirst';
  if (policy === 'None') return { nameservers: [], searches: [], options: [] };
  const node = parseResolvConf(input.nodeResolvConf);
  if (policy === 'Default' || (policy === 'ClusterFirst' && spec?.hostNetwork === true)) return node;
  const { clusterDns, clusterDomain } = input;
  if (clusterDns.length === 0) {
    const pod = `${metadata.name}_${metadata.namespace}(${metadata.uid})`;
    const fallback = `kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.`;
    notes.push({ reason: 'MissingClusterDNS', message: `pod: "${pod}". ${fallback}` });
    return node;
  }
  const cluster = clusterDomain === '' ? [] : [`${metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  return { nameservers: [...clusterDns], searches: unique([...cluster, ...node.searches]), options: ['ndots:5'] };
}

interface DnsConfig {
  nameservers?: string[];
  searches?: string[];
  options?: { name: string; value?: string }[];
}

function merged(base: ResolverSettings, own: DnsConfig): ResolverSettings {
  const options = new Map<string, string>();
  for (const option of base.options) {
    const colon = option.indexOf(':');
    if (colon < 0) options.set(option, '');
    else options.set(option.slice(0, colon), option.slice(colon + 1));
  }
  for (const { name, value = '' } of own.options ?? []) options.set(name, value);
  return {
    nameservers: unique([...base.nameservers, ...(own.nameservers ?? [])]),
    searches: unique([...base.searches, ...(own.searches ?? [])]),
    options: [...options].map(([name, value]) => (value === '' ? name : `${name}:${value}`)),
  };
}

function fewNameservers(nameservers: string[], notes: ResolvConf['notes']): string[] {
  if (nameservers.length <= MAX_NAMESERVERS) return nameservers;
  const kept = nameservers.slice(0, MAX_NAMESERVERS);
  const message = `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${kept.join(' ')}`;
  notes.push({ reason: 'DNSConfigForming', message });
  return kept;
}

/** Resolvers of libc abort on names that are too long, and older ones on lines that are. */
function fewSearches(searches: string[], notes: ResolvConf['notes']): string[] {
  const kept = searches.slice(0, MAX_SEARCHES).filter((search) => search.length <= MAX_NAME_LENGTH);
  while (kept.join(' ').length > MAX_SEARCH_CHARACTERS) kept.pop();
  if (kept.length < searches.length) {
    const message = `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${kept.join(' ')}`;
    notes.push({ reason: 'DNSConfigForming', message });
  }
  return kept;
}

function printed({ nameservers, searches, options }: ResolverSettings): string {
  const lines = nameservers.map((address) => `nameserver ${address}\n`);
  if (searches.length > 0) lines.unshift(`search ${searches.join(' ')}\n`);
  if (options.length > 0) lines.push(`options ${options.join(' ')}\n`);
  return lines.join('');
}

function unique(values: string[]): string[] {
  return [...new Set(values)];
}
