import type { NftTable } from '../../ruleset/nft-table.ts';
import {
  compilePolicy,
  EVERY_POD,
  shortHash,
  type CompiledPolicy,
  type Direction,
  type NamedPort,
  type Peer,
  type PeerSelector,
  type PolicyRule,
} from './compiled-policy.ts';
import { PolicyPeers } from './policy-peers.ts';
import { samePolicyPod, type PolicyPod } from './policy-pod.ts';
import { deniedText, MAPS, ruleText, type RuleMatch } from './rule-text.ts';
import type { KubeObject } from '../../../../../kube/object.ts';

const DIRECTIONS: readonly Direction[] = ['ingress', 'egress'];

/**
 * From policies, Pods and namespaces to the sets, maps and chains of a table. A Pod that is isolated in a direction has an entry in the map
 * of that direction, which leads to a chain with the rules of all policies that select it; Pods for which the same rules hold share the
 * chain. Who is behind a selector stands in sets. So a Pod that comes or goes changes elements, and a policy the chains of its namespace.
 *
 * Changes are noted at once and worked out by `settle`, in steps, so that thousands of them do not hold the event loop.
 */
export class PolicyModel {
  #table: NftTable;
  #peers: PolicyPeers;
  #pods = new Map<string, PolicyPod>();
  #podsIn = new Map<string, Set<string>>();
  #namespaces = new Map<string, Record<string, string>>();
  #policies = new Map<string, CompiledPolicy>();
  #policiesIn = new Map<string, Set<string>>();
  /** Policies as they were last told, gone or not read yet: reading hundreds takes a while. */
  #changedPolicies = new Map<string, KubeObject | undefined>();
  /** Which chain each Pod is sent through, with the addresses that are in the map. */
  #sent = new Map<string, Partial<Record<Direction, { chain: string; addresses: readonly string[] }>>>();
  #chainUsers = new Map<string, number>();
  #dirtyPods = new Set<string>();
  #dirtyPlaces = new Set<string>();
  #newPeers = new Map<string, PeerSelector>();
  /** Selectors that a changed policy does not mention any more: they go after the chains that use them. */
  #released: { selector: PeerSelector; policy: string }[] = [];

  constructor(table: NftTable) {
    this.#table = table;
    for (const direction of DIRECTIONS) table.declareSet(MAPS[direction], { kind: 'map', definition: 'type ipv4_addr : verdict;' });
    this.#peers = new PolicyPeers(table, (namespace) => this.#namespaces.get(namespace));
  }

  setPod(pod: PolicyPod): void {
    const before = this.#pods.get(pod.uid);
    if (before && samePolicyPod(before, pod)) return;
    this.#pods.set(pod.uid, pod);
    groupOf(this.#podsIn, pod.namespace).add(pod.uid);
    this.#dirtyPods.add(pod.uid);
    this.#dirtyPlaces.add(pod.uid);
  }

  deletePod(uid: string): void {
    const pod = this.#pods.get(uid);
    if (!pod) return;
    this.#pods.delete(uid);
    this.#podsIn.get(pod.namespace)?.delete(uid);
    this.#dirtyPlaces.delete(uid);
    // At once, and not with the next step: the address may belong to another Pod by then.
    this.#markUsers(this.#peers.remove(pod));
    this.#dirtyPods.add(uid);
    this.#refreshPod(uid);
  }

  setNamespace(name: string, labels: Record<string, string>): void {
    const before = this.#namespaces.get(name);
    if (before && JSON.stringify(before) === JSON.stringify(labels)) return;
    this.#namespaces.set(name, labels);
    for (const uid of this.#podsIn.get(name) ?? []) this.#dirtyPlaces.add(uid);
  }

  deleteNamespace(name: string): void {
    this.#namespaces.delete(name);
    for (const uid of this.#podsIn.get(name) ?? []) this.#dirtyPlaces.add(uid);
  }

  setPolicy(object: KubeObject): void {
    this.#changedPolicies.set(`${object.metadata.namespace}/${object.metadata.name}`, object);
  }

  deletePolicy(key: string): void {
    this.#changedPolicies.set(key, undefined);
  }

  /** The version of the newest state that is known. */
  policyVersion(key: string): string | undefined {
    if (this.#changedPolicies.has(key)) return this.#changedPolicies.get(key)?.metadata.resourceVersion;
    return this.#policies.get(key)?.resourceVersion;
  }

  get policyCount(): number {
    return this.#policies.size;
  }

  pod(uid: string): PolicyPod | undefined {
    return this.#pods.get(uid);
  }

  /** The policies that isolate the Pod in a direction. */
  policiesOf(pod: PolicyPod, direction: Direction): CompiledPolicy[] {
    if (!pod.subject) return [];
    const found: CompiledPolicy[] = [];
    for (const key of this.#policiesIn.get(pod.namespace) ?? []) {
      const policy = this.#policies.get(key)!;
      if (policy[direction] && policy.pods.matches(pod.labels)) found.push(policy);
    }
    return found.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** Works out what is noted; yields after each small step. What remains noted when the caller stops is done the next time. */
  *settle(): Generator<void, void, void> {
    while (this.#unsettled) {
      for (const [key, policy] of this.#changedPolicies) {
        this.#changedPolicies.delete(key);
        if (policy) this.#takePolicy(policy);
        else this.#dropPolicy(key);
        yield;
      }
      yield* this.#fillNewPeers();
      for (const uid of this.#dirtyPlaces) {
        this.#dirtyPlaces.delete(uid);
        const pod = this.#pods.get(uid);
        if (pod) this.#markUsers(this.#peers.place(pod));
        yield;
      }
      for (const uid of this.#dirtyPods) {
        this.#refreshPod(uid);
        yield;
      }
      if (this.#dirtyPods.size > 0) continue;
      for (const { selector, policy } of this.#released.splice(0)) this.#releaseUnused(selector, policy);
    }
  }

  get #unsettled(): boolean {
    const dirty = this.#changedPolicies.size + this.#newPeers.size + this.#dirtyPlaces.size + this.#dirtyPods.size;
    return dirty + this.#released.length > 0;
  }

  #takePolicy(object: KubeObject): void {
    const policy = compilePolicy(object);
    const before = this.#policies.get(policy.key);
    if (before?.resourceVersion === policy.resourceVersion && policy.resourceVersion !== '') return;
    this.#policies.set(policy.key, policy);
    groupOf(this.#policiesIn, policy.namespace).add(policy.key);
    const selectors = selectorsOf(policy);
    for (const selector of selectors.values()) {
      if (this.#peers.use(selector, policy.key)) this.#newPeers.set(selector.id, selector);
    }
    this.#release(before, selectors);
    this.#markNamespace(policy.namespace);
  }

  #dropPolicy(key: string): void {
    const policy = this.#policies.get(key);
    if (!policy) return;
    this.#policies.delete(key);
    this.#policiesIn.get(policy.namespace)?.delete(key);
    this.#release(policy, new Map());
    this.#markNamespace(policy.namespace);
  }

  *#fillNewPeers(): Generator<void, void, void> {
    for (const [id, selector] of this.#newPeers) {
      this.#newPeers.delete(id);
      const uids = selector.namespace === undefined ? this.#pods.keys() : (this.#podsIn.get(selector.namespace) ?? []);
      for (const uid of uids) this.#markUsers(this.#peers.fill(selector, this.#pods.get(uid)!));
      yield;
    }
  }

  #refreshPod(uid: string): void {
    this.#dirtyPods.delete(uid);
    const pod = this.#pods.get(uid);
    for (const direction of DIRECTIONS) {
      const policies = pod ? this.policiesOf(pod, direction) : [];
      this.#send(uid, direction, policies.length === 0 ? undefined : this.#rulesFor(pod!, policies, direction), pod?.addresses ?? []);
    }
  }

  #send(uid: string, direction: Direction, rules: string[] | undefined, addresses: readonly string[]): void {
    const map = MAPS[direction];
    const sent = this.#sent.get(uid) ?? {};
    const before = sent[direction];
    const chain = rules && addresses.length > 0 ? `${direction}_${shortHash(rules.join('\n'))}` : undefined;
    if (chain !== undefined) {
      const users = this.#chainUsers.get(chain) ?? 0;
      if (users === 0) this.#table.setChain(chain, rules!);
      this.#chainUsers.set(chain, users + 1);
      for (const address of addresses) this.#table.addElement(map, address, `jump ${chain}`);
    }
    if (before) {
      const kept = chain === undefined ? [] : addresses;
      for (const address of before.addresses) if (!kept.includes(address)) this.#table.deleteElement(map, address);
      const users = this.#chainUsers.get(before.chain)! - 1;
      if (users > 0) this.#chainUsers.set(before.chain, users);
      else {
        this.#chainUsers.delete(before.chain);
        this.#table.deleteChain(before.chain);
      }
    }
    const next = { ...sent, [direction]: chain === undefined ? undefined : { chain, addresses } };
    if (next.ingress || next.egress) this.#sent.set(uid, next);
    else this.#sent.delete(uid);
  }

  #rulesFor(pod: PolicyPod, policies: CompiledPolicy[], direction: Direction): string[] {
    const lines = new Set<string>();
    for (const policy of policies) {
      for (const rule of policy[direction]!) {
        for (const match of this.#matches(pod, rule, direction)) lines.add(ruleText(direction, match));
      }
    }
    return [...lines, deniedText(direction)];
  }

  *#matches(pod: PolicyPod, rule: PolicyRule, direction: Direction): Generator<RuleMatch, void, void> {
    for (const peer of rule.peers ?? [undefined]) {
      for (const port of rule.ports ?? [undefined]) {
        if (!port || !('name' in port)) yield { peer: this.#target(peer), port };
        else if (direction === 'ingress') yield* this.#ownNamedPort(pod, peer, port);
        else yield* this.#namedPortOfPeers(peer, port);
      }
    }
  }

  /** The name is one of the Pod that the policy selects. */
  *#ownNamedPort(pod: PolicyPod, peer: Peer | undefined, { protocol, name }: NamedPort): Generator<RuleMatch, void, void> {
    for (const port of pod.ports) {
      if (port.name !== name || port.protocol !== protocol) continue;
      yield { peer: this.#target(peer), port: { protocol, first: port.number, last: port.number } };
    }
  }

  /** The name is one of the Pod that answers. Addresses that are no Pod's have no names for ports. */
  *#namedPortOfPeers(peer: Peer | undefined, { protocol, name }: NamedPort): Generator<RuleMatch, void, void> {
    const selector = peer && 'selector' in peer ? peer.selector : EVERY_POD;
    const block = peer && 'block' in peer ? peer : {};
    for (const { number, set } of this.#peers.namedSets(selector, protocol, name, this.#pods.values())) {
      yield { peer: { ...block, set }, port: { protocol, first: number, last: number } };
    }
  }

  #target(peer: Peer | undefined): RuleMatch['peer'] {
    if (!peer) return undefined;
    return 'selector' in peer ? { set: this.#peers.setOf(peer.selector) } : peer;
  }

  #release(policy: CompiledPolicy | undefined, kept: Map<string, PeerSelector>): void {
    if (!policy) return;
    for (const selector of selectorsOf(policy).values()) if (!kept.has(selector.id)) this.#released.push({ selector, policy: policy.key });
  }

  /** The policy may mention the selector again by now. */
  #releaseUnused(selector: PeerSelector, key: string): void {
    const policy = this.#policies.get(key);
    if (!policy || !selectorsOf(policy).has(selector.id)) this.#peers.release(selector, key);
  }

  #markUsers(policies: Iterable<string>): void {
    for (const key of policies) {
      const policy = this.#policies.get(key);
      if (policy) this.#markNamespace(policy.namespace);
    }
  }

  #markNamespace(namespace: string): void {
    for (const uid of this.#podsIn.get(namespace) ?? []) this.#dirtyPods.add(uid);
  }
}

/** Every selector that the rules mention, and all Pods where a port name stands without one. */
function selectorsOf(policy: CompiledPolicy): Map<string, PeerSelector> {
  const selectors = new Map<string, PeerSelector>();
  for (const rule of [...(policy.ingress ?? []), ...(policy.egress ?? [])]) {
    for (const peer of rule.peers ?? []) if ('selector' in peer) selectors.set(peer.selector.id, peer.selector);
  }
  const namedForAll = (policy.egress ?? []).some(
    ({ peers, ports }) => ports?.some((port) => 'name' in port) && (!peers || peers.some((peer) => 'block' in peer)),
  );
  if (namedForAll) selectors.set(EVERY_POD.id, EVERY_POD);
  return selectors;
}

function groupOf(groups: Map<string, Set<string>>, name: string): Set<string> {
  let group = groups.get(name);
  if (!group) groups.set(name, (group = new Set()));
  return group;
}
