import type { NftTable } from '../../ruleset/nft-table.ts';
import { AddressSet } from './address-set.ts';
import { shortHash, type PeerSelector, type Protocol } from './compiled-policy.ts';
import type { PolicyPod } from './policy-pod.ts';

interface PeerSet {
  selector: PeerSelector;
  addresses: AddressSet;
  /** Keys of the policies that mention it. */
  users: Set<string>;
  /** Ports asked for by name: `tcp/http` to the numbers they stand for, each with the Pods where they do. */
  named: Map<string, Map<number, AddressSet>>;
}

/**
 * The sets of addresses that policies mention, one for each way to select Pods, kept up to date Pod by Pod. A port that is mentioned by
 * name means another number on each Pod, so these have one set for each number.
 */
export class PolicyPeers {
  #table: NftTable;
  #namespaceLabels: (namespace: string) => Record<string, string> | undefined;
  #sets = new Map<string, PeerSet>();
  #byNamespace = new Map<string, Set<PeerSet>>();
  #everywhere = new Set<PeerSet>();

  constructor(table: NftTable, namespaceLabels: (namespace: string) => Record<string, string> | undefined) {
    this.#table = table;
    this.#namespaceLabels = namespaceLabels;
  }

  /** @returns whether the set is new and must be filled. */
  use(selector: PeerSelector, policy: string): boolean {
    const existing = this.#sets.get(selector.id);
    existing?.users.add(policy);
    if (existing) return false;
    const addresses = new AddressSet(this.#table, `peers_${shortHash(selector.id)}`);
    const peers: PeerSet = { selector, addresses, users: new Set([policy]), named: new Map() };
    this.#sets.set(selector.id, peers);
    this.#neighbours(selector).add(peers);
    return true;
  }

  /** Called after the chains that mention the set are gone or changed. */
  release(selector: PeerSelector, policy: string): void {
    const peers = this.#sets.get(selector.id);
    if (!peers) return;
    peers.users.delete(policy);
    if (peers.users.size > 0) return;
    this.#sets.delete(selector.id);
    this.#neighbours(selector).delete(peers);
    peers.addresses.drop();
    for (const numbers of peers.named.values()) for (const addresses of numbers.values()) addresses.drop();
  }

  setOf(selector: PeerSelector): string {
    return this.#sets.get(selector.id)!.addresses.name;
  }

  /** The numbers that a port name stands for among the selected Pods, each with the set of the Pods it does so for. */
  namedSets(selector: PeerSelector, protocol: Protocol, name: string, pods: Iterable<PolicyPod>): { number: number; set: string }[] {
    const peers = this.#sets.get(selector.id)!;
    const port = `${protocol}/${name}`;
    if (!peers.named.has(port)) {
      peers.named.set(port, new Map());
      for (const pod of pods) if (peers.addresses.has(pod.uid)) this.#placeNamed(peers, pod, pod.addresses);
    }
    return [...peers.named.get(port)!].sort(([a], [b]) => a - b).map(([number, { name: set }]) => ({ number, set }));
  }

  /** Puts the Pod into one set if it belongs there. @returns the policies whose port names now mean other numbers. */
  fill(selector: PeerSelector, pod: PolicyPod): ReadonlySet<string> {
    const peers = this.#sets.get(selector.id);
    return peers && this.#place(peers, pod, pod.addresses) ? peers.users : new Set();
  }

  /** Puts the Pod into the sets it belongs to and takes it out of the others. @returns as `fill`. */
  place(pod: PolicyPod, addresses = pod.addresses): ReadonlySet<string> {
    const affected = new Set<string>();
    const visit = (peers: PeerSet): void => {
      if (this.#place(peers, pod, addresses)) for (const user of peers.users) affected.add(user);
    };
    this.#byNamespace.get(pod.namespace)?.forEach(visit);
    this.#everywhere.forEach(visit);
    return affected;
  }

  remove(pod: PolicyPod): ReadonlySet<string> {
    return this.place(pod, []);
  }

  #place(peers: PeerSet, pod: PolicyPod, addresses: readonly string[]): boolean {
    const members = addresses.length > 0 && this.#selects(peers.selector, pod) ? addresses : [];
    peers.addresses.place(pod.uid, members);
    return peers.named.size > 0 && this.#placeNamed(peers, pod, members);
  }

  /** @returns whether a number came up that was not there. One that no Pod uses any more stays, with an empty set. */
  #placeNamed(peers: PeerSet, pod: PolicyPod, members: readonly string[]): boolean {
    let fresh = false;
    for (const [port, numbers] of peers.named) {
      const wanted = new Set(pod.ports.filter(({ protocol, name }) => `${protocol}/${name}` === port).map(({ number }) => number));
      for (const number of wanted) {
        if (members.length === 0 || numbers.has(number)) continue;
        numbers.set(number, new AddressSet(this.#table, `named_${shortHash(`${peers.selector.id} ${port} ${number}`)}`));
        fresh = true;
      }
      for (const [number, addresses] of numbers) addresses.place(pod.uid, wanted.has(number) ? members : []);
    }
    return fresh;
  }

  #selects(selector: PeerSelector, pod: PolicyPod): boolean {
    if (selector.namespace !== undefined && selector.namespace !== pod.namespace) return false;
    if (selector.namespaces) {
      const labels = this.#namespaceLabels(pod.namespace);
      if (!labels || !selector.namespaces.matches(labels)) return false;
    }
    return selector.pods.matches(pod.labels);
  }

  #neighbours({ namespace }: PeerSelector): Set<PeerSet> {
    if (namespace === undefined) return this.#everywhere;
    let sets = this.#byNamespace.get(namespace);
    if (!sets) this.#byNamespace.set(namespace, (sets = new Set()));
    return sets;
  }
}
