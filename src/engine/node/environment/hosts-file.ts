import { isDns1123Label, isDns1123Subdomain } from '../../../kube/names.ts';
import type { KubeObject } from '../../../kube/object.ts';

const HOSTNAME_MAX_LENGTH = 63;

export interface PodHostname {
  hostname: string;
  /** Empty unless the Pod has a subdomain. */
  domain: string;
}

/** What the Pod calls itself. @throws Error in Kubernetes' words */
export function podHostname({ metadata, spec }: KubeObject, clusterDomain: string): PodHostname {
  if (typeof spec?.hostnameOverride === 'string') {
    const name: string = spec.hostnameOverride;
    check('HostnameOverride', name, 'subdomain', isDns1123Subdomain(name));
    return { hostname: shortened(metadata.name!, name), domain: '' };
  }
  if (spec?.hostname) check('Hostname', spec.hostname, 'label', isDns1123Label(spec.hostname));
  const hostname = shortened(metadata.name!, spec?.hostname || metadata.name!);
  if (!spec?.subdomain) return { hostname, domain: '' };
  check('Subdomain', spec.subdomain, 'label', isDns1123Label(spec.subdomain));
  return { hostname, domain: `${spec.subdomain}.${metadata.namespace}.svc.${clusterDomain}` };
}

/** What `hostname` prints in the Pod: the full name where the Pod asks for that. @throws Error in Kubernetes' words */
export function kernelHostname(pod: KubeObject, { hostname, domain }: PodHostname): string {
  if (pod.spec?.setHostnameAsFQDN !== true || domain === '') return hostname;
  const full = `${hostname}.${domain}`;
  // The kernel takes no longer names.
  if (full.length > 64) {
    throw new Error(
      `failed to construct FQDN from pod hostname and cluster domain, FQDN ${full} is too long (64 characters is the max, ${full.length} characters requested)`,
    );
  }
  return full;
}

const LOCAL_NAMES = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

/** /etc/hosts of a Pod. With `nodeHosts` (the machine's file) for Pods on the machine's network, which see its names. */
export function podHostsFile(pod: KubeObject, { podIp, clusterDomain, nodeHosts }: HostsInput): string {
  const aliases = aliasLines(pod);
  if (pod.spec?.hostNetwork === true) return `# Kubernetes-managed hosts file (host network).\n${nodeHosts ?? ''}${aliases}`;
  const { hostname, domain } = podHostname(pod, clusterDomain);
  const own = domain === '' ? `${podIp}\t${hostname}` : `${podIp}\t${hostname}.${domain}\t${hostname}`;
  return `${['# Kubernetes-managed hosts file.', ...LOCAL_NAMES, own].join('\n')}\n${aliases}`;
}

export interface HostsInput {
  podIp: string;
  clusterDomain: string;
  nodeHosts?: string;
}

function aliasLines({ spec }: KubeObject): string {
  const aliases: { ip: string; hostnames?: string[] }[] = spec?.hostAliases ?? [];
  if (aliases.length === 0) return '';
  const lines = aliases.map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join('\t')}\n`);
  return `\n# Entries added by HostAliases.\n${lines.join('')}`;
}

function check(field: string, value: string, form: string, problems: string[]): void {
  if (problems.length > 0) throw new Error(`pod ${field} "${value}" is not a valid DNS ${form}: ${problems.join(';')}`);
}

function shortened(podName: string, hostname: string): string {
  if (hostname.length <= HOSTNAME_MAX_LENGTH) return hostname;
  const short = hostname.slice(0, HOSTNAME_MAX_LENGTH).replace(/[-.]+$/, '');
  if (short === '') throw new Error(`hostname for pod "${podName}" was invalid: "${hostname}"`);
  return short;
}
