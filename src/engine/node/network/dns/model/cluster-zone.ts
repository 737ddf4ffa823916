import { labelsOf } from '../../../../../lib/dns/names.ts';
import { RCODE, TYPE, type DnsQuestion, type DnsRecord } from '../../../../../lib/dns/message.ts';
import type { Json, KubeObject } from '../../../../../kube/object.ts';

/** What the zone is answered from. */
export interface ClusterRecords {
  service(namespace: string, name: string): KubeObject | undefined;
  /** The namespace has Services. */
  hasServices(namespace: string): boolean;
  slices(namespace: string, service: string): readonly KubeObject[];
  servicesAt(address: string): readonly KubeObject[];
  slicesWith(address: string): readonly KubeObject[];
  hasPod(namespace: string, address: string): boolean;
}

export interface ZoneAnswer {
  rcode: number;
  answers: DnsRecord[];
  additional: DnsRecord[];
  /** The answer ends in a name of another zone: whoever can must look it up. */
  follow?: string;
}

/** Names come and go with Pods, so nobody should remember them for long. */
export const TTL = 5;
const VERSION = '1.1.0';
/** ExternalName Services can point at each other. */
const MAX_ALIASES = 8;

const NOTHING: ZoneAnswer = { rcode: RCODE.NXDOMAIN, answers: [], additional: [] };
const NO_DATA: ZoneAnswer = { rcode: RCODE.NOERROR, answers: [], additional: [] };

/** Answers for the cluster's domain and its reverse names, by the rules of Kubernetes' DNS specification. Undefined: not ours. */
export function answerFromCluster(question: DnsQuestion, domain: string, records: ClusterRecords): ZoneAnswer | undefined {
  const name = question.name.toLowerCase();
  const pointer = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.in-addr\.arpa$/.exec(name);
  if (pointer) return answerPointer(question, pointer.slice(1).reverse().join('.'), domain, records);
  if (name !== domain && !name.endsWith(`.${domain}`)) return undefined;
  const labels = name === domain ? [] : labelsOf(name.slice(0, -domain.length - 1));
  return new ZoneLookup(domain, records).answer(question, labels.reverse(), 0);
}

/** The record that goes with "no": it says how long to believe it. */
export function zoneAuthority(domain: string, serial: number): DnsRecord {
  const soa = { primary: `ns.dns.${domain}`, mailbox: `hostmaster.${domain}`, refresh: 7200, retry: 1800, expire: 86_400, minimum: TTL };
  return { name: domain, ttl: TTL, type: 'SOA', serial, ...soa };
}

class ZoneLookup {
  #domain: string;
  #records: ClusterRecords;

  constructor(domain: string, records: ClusterRecords) {
    this.#domain = domain;
    this.#records = records;
  }

  /** `path` holds the labels from the domain inwards. */
  answer(question: DnsQuestion, path: string[], aliases: number): ZoneAnswer {
    const [kind, namespace, name, ...rest] = path;
    if (kind === undefined) return NO_DATA;
    if (kind === 'dns-version' && path.length === 1) {
      return asks(question, TYPE.TXT) ? answered({ name: question.name, ttl: TTL, type: 'TXT', text: VERSION }) : NO_DATA;
    }
    if (kind === 'pod') return this.#pod(question, path);
    if (kind !== 'svc') return NOTHING;
    if (namespace === undefined) return NO_DATA;
    if (name === undefined) return this.#records.hasServices(namespace) ? NO_DATA : NOTHING;
    const service = this.#records.service(namespace, name);
    if (!service) return NOTHING;
    if (service.spec?.type === 'ExternalName') return rest.length === 0 ? this.#alias(question, service, aliases) : NOTHING;
    return this.#service(question, service, rest);
  }

  #pod(question: DnsQuestion, [, namespace, dashed, ...rest]: string[]): ZoneAnswer {
    if (namespace === undefined) return NO_DATA;
    const address = /^\d{1,3}(-\d{1,3}){3}$/.test(dashed ?? '') ? dashed.replaceAll('-', '.') : undefined;
    if (address === undefined || rest.length > 0 || !this.#records.hasPod(namespace, address)) return NOTHING;
    return addresses(question, [address]);
  }

  #alias(question: DnsQuestion, service: KubeObject, aliases: number): ZoneAnswer {
    const target = String(service.spec.externalName ?? '').replace(/\.$/, '');
    const alias: DnsRecord = { name: question.name, ttl: TTL, type: 'CNAME', target };
    if (target === '' || !asks(question, TYPE.A, TYPE.AAAA, TYPE.CNAME)) return NO_DATA;
    if (question.type === TYPE.CNAME) return answered(alias);
    if (!target.toLowerCase().endsWith(`.${this.#domain}`)) return { ...answered(alias), follow: target };
    if (aliases >= MAX_ALIASES) return { rcode: RCODE.SERVFAIL, answers: [], additional: [] };
    const path = labelsOf(target.toLowerCase().slice(0, -this.#domain.length - 1)).reverse();
    const next = this.answer({ ...question, name: target }, path, aliases + 1);
    return { ...next, answers: [alias, ...next.answers] };
  }

  #service(question: DnsQuestion, service: KubeObject, rest: string[]): ZoneAnswer {
    const home = `${service.metadata.name}.${service.metadata.namespace}.svc.${this.#domain}`;
    const headless = service.spec?.clusterIP === 'None' || !service.spec?.clusterIP;
    const endpoints = headless ? this.#endpoints(service) : [];
    if (rest.length === 0) {
      if (asks(question, TYPE.SRV)) return this.#ports(question, service, home, endpoints, () => true);
      if (!headless) return addresses(question, [service.spec.clusterIP as string]);
      return endpoints.length === 0 ? NOTHING : addresses(question, unique(endpoints.map(({ address }) => address)));
    }
    if (rest.length === 1) {
      const named = endpoints.filter(({ host }) => host === rest[0]);
      return named.length === 0 ? NOTHING : addresses(question, unique(named.map(({ address }) => address)));
    }
    const [protocol, port] = rest;
    if (rest.length > 2 || !port.startsWith('_') || !protocol.startsWith('_')) return NOTHING;
    return this.#ports(question, service, home, endpoints, (p) => `_${p.name}` === port && `_${p.protocol.toLowerCase()}` === protocol);
  }

  /** SRV: the port behind each name. */
  #ports(
    question: DnsQuestion,
    service: KubeObject,
    home: string,
    endpoints: readonly ZoneEndpoint[],
    wanted: (port: { name: string; protocol: string }) => boolean,
  ): ZoneAnswer {
    const record = (target: string, port: number): DnsRecord => ({
      name: question.name,
      ttl: TTL,
      type: 'SRV',
      priority: 0,
      weight: 100,
      port,
      target,
    });
    const additional = new Map<string, DnsRecord>();
    const answers: DnsRecord[] = [];
    if (endpoints.length === 0 && service.spec?.clusterIP && service.spec.clusterIP !== 'None') {
      for (const { name = '', protocol = 'TCP', port } of (service.spec.ports ?? []) as Json[]) {
        if (wanted({ name, protocol })) answers.push(record(home, port));
      }
      if (answers.length > 0) additional.set(home, { name: home, ttl: TTL, type: 'A', address: service.spec.clusterIP });
    }
    for (const { host, address, ports } of endpoints) {
      for (const { name = '', protocol = 'TCP', port } of ports) {
        if (!wanted({ name, protocol })) continue;
        answers.push(record(`${host}.${home}`, port));
        additional.set(`${host}.${home}`, { name: `${host}.${home}`, ttl: TTL, type: 'A', address });
      }
    }
    if (answers.length === 0) return NOTHING;
    return asks(question, TYPE.SRV) ? { rcode: RCODE.NOERROR, answers, additional: [...additional.values()] } : NO_DATA;
  }

  #endpoints(service: KubeObject): ZoneEndpoint[] {
    const found: ZoneEndpoint[] = [];
    for (const slice of this.#records.slices(service.metadata.namespace!, service.metadata.name!)) {
      if (slice.addressType !== 'IPv4') continue;
      for (const endpoint of (slice.endpoints ?? []) as Json[]) {
        const address = endpoint.addresses?.[0] as string | undefined;
        if (address === undefined || endpoint.conditions?.ready === false) continue;
        found.push({ address, host: hostOf(endpoint, address), ports: slice.ports ?? [] });
      }
    }
    return found;
  }
}

interface ZoneEndpoint {
  address: string;
  host: string;
  ports: Json[];
}

function hostOf(endpoint: Json, address: string): string {
  return endpoint.hostname ?? address.replaceAll('.', '-');
}

function answerPointer(question: DnsQuestion, address: string, domain: string, records: ClusterRecords): ZoneAnswer | undefined {
  const names = records.servicesAt(address).map(({ metadata }) => `${metadata.name}.${metadata.namespace}.svc.${domain}`);
  for (const slice of records.slicesWith(address)) {
    const service = slice.metadata.labels?.['kubernetes.io/service-name'];
    if (service === undefined || records.service(slice.metadata.namespace!, service)?.spec?.clusterIP !== 'None') continue;
    const endpoint = ((slice.endpoints ?? []) as Json[]).find(({ addresses: at }) => at?.includes(address));
    names.push(`${hostOf(endpoint, address)}.${service}.${slice.metadata.namespace}.svc.${domain}`);
  }
  if (names.length === 0) return undefined;
  if (!asks(question, TYPE.PTR)) return NO_DATA;
  return answered(...unique(names).map((target): DnsRecord => ({ name: question.name, ttl: TTL, type: 'PTR', target })));
}

function addresses(question: DnsQuestion, found: readonly string[]): ZoneAnswer {
  if (!asks(question, TYPE.A)) return NO_DATA;
  return answered(...found.map((address): DnsRecord => ({ name: question.name, ttl: TTL, type: 'A', address })));
}

function answered(...answers: DnsRecord[]): ZoneAnswer {
  return { rcode: RCODE.NOERROR, answers, additional: [] };
}

function asks({ type }: DnsQuestion, ...types: number[]): boolean {
  return types.includes(type) || (type === TYPE.ANY && types.includes(TYPE.A));
}

function unique(items: readonly string[]): string[] {
  return [...new Set(items)];
}
