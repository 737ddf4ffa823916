import { createHash } from 'node:crypto';
import { parseCidr, formatCidr, cidrContains } from '../../../../../kube/ip.ts';
import { labelSelectorMatcher, type LabelMatcher, type LabelSelector } from '../../../../../kube/label-selector.ts';
import type { Json, KubeObject } from '../../../../../kube/object.ts';

export type Direction = 'ingress' | 'egress';
export type Protocol = 'tcp' | 'udp' | 'sctp';

/** Pods by their labels and those of their namespace. Two policies that say the same share one. */
export interface PeerSelector {
  id: string;
  /** Only Pods of this namespace. */
  namespace?: string;
  /** Only Pods of the namespaces with these labels. */
  namespaces?: LabelMatcher;
  pods: LabelMatcher;
}

export type Peer = { selector: PeerSelector } | { block: string; except: string[] };

export interface NamedPort {
  protocol: Protocol;
  name: string;
}

export type PolicyPort = { protocol: Protocol; first?: number; last?: number } | NamedPort;

/** What one rule lets through: absent peers or ports mean all of them. */
export interface PolicyRule {
  peers?: Peer[];
  ports?: PolicyPort[];
}

export interface CompiledPolicy {
  /** `namespace/name`. */
  key: string;
  namespace: string;
  resourceVersion: string;
  pods: LabelMatcher;
  /** Absent: the policy does not isolate in this direction. */
  ingress?: PolicyRule[];
  egress?: PolicyRule[];
}

/** Reads a NetworkPolicy. One that cannot be read, which the API does not let in, closes its namespace: nobody knows what it was to allow. */
export function compilePolicy(policy: KubeObject): CompiledPolicy {
  const { namespace = '', name = '', resourceVersion = '' } = policy.metadata;
  const identity = { key: `${namespace}/${name}`, namespace, resourceVersion };
  try {
    return { ...identity, ...compileSpec(policy.spec ?? {}, namespace) };
  } catch {
    return { ...identity, pods: labelSelectorMatcher({}), ingress: [], egress: [] };
  }
}

/** IPv6 ranges are left out: there is no IPv6 between Pods. */
function compileSpec(spec: Json, namespace: string): Pick<CompiledPolicy, 'pods' | Direction> {
  const types: string[] = spec.policyTypes ?? (spec.egress ? ['Ingress', 'Egress'] : ['Ingress']);
  const rules = (list: Json, peers: 'from' | 'to'): PolicyRule[] =>
    ((list ?? []) as Json[]).map((rule) => ({
      peers: nonEmpty(rule[peers])?.flatMap((peer) => compilePeer(peer, namespace)),
      ports: nonEmpty(rule.ports)?.map(compilePort),
    }));
  return {
    pods: labelSelectorMatcher((spec.podSelector ?? {}) as LabelSelector),
    ...(types.includes('Ingress') ? { ingress: rules(spec.ingress, 'from') } : {}),
    ...(types.includes('Egress') ? { egress: rules(spec.egress, 'to') } : {}),
  };
}

function nonEmpty(list: Json): Json[] | undefined {
  return Array.isArray(list) && list.length > 0 ? list : undefined;
}

function compilePeer(peer: Json, namespace: string): Peer[] {
  if (peer.ipBlock) return compileBlock(peer.ipBlock.cidr, peer.ipBlock.except ?? []);
  const pods = labelSelectorMatcher((peer.podSelector ?? {}) as LabelSelector);
  if (!peer.namespaceSelector) return [{ selector: { id: selectorId(namespace, '', pods), namespace, pods } }];
  const namespaces = labelSelectorMatcher(peer.namespaceSelector as LabelSelector);
  return [{ selector: { id: selectorId('', namespaces.toString(), pods), namespaces, pods } }];
}

function selectorId(namespace: string, namespaces: string, pods: LabelMatcher): string {
  return JSON.stringify([namespace, namespaces, pods.toString()]);
}

/** All Pods, also those of namespaces that are not known yet. */
export const EVERY_POD: PeerSelector = { id: 'every Pod', pods: labelSelectorMatcher({}) };

function compileBlock(text: string, exceptions: string[]): Peer[] {
  const cidr = parseCidr(text);
  if (!cidr || cidr.address.version !== 4) return [];
  const except: string[] = [];
  for (const exception of exceptions) {
    const inner = parseCidr(exception);
    if (inner?.address.version !== 4) continue;
    // An exception that holds the whole range leaves nothing of it.
    if (inner.prefix <= cidr.prefix && cidrContains(inner, cidr.address)) return [];
    except.push(formatCidr(inner));
  }
  return [{ block: formatCidr(cidr), except }];
}

function compilePort(port: Json): PolicyPort {
  const protocol = String(port.protocol ?? 'TCP').toLowerCase() as Protocol;
  if (port.port === undefined || port.port === null) return { protocol };
  if (typeof port.port === 'string') return { protocol, name: port.port };
  return { protocol, first: port.port, last: port.endPort ?? port.port };
}

/** Names in nftables are short and plain; what they stand for is not. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
