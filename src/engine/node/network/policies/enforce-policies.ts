import type { Client } from '../../../../client/client.ts';
import { Namespace, NetworkPolicy, Pod } from '../../../../client/kinds.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { versionOrder } from '../../../../kube/resource-version.ts';
import type { Clock } from '../../../../lib/clock.ts';
import type { Log } from '../../../../lib/log.ts';
import type { Change, Informer } from '../../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../../runtime/informer/shared-informers.ts';
import type { PodReference } from '../../pod-reference.ts';
import { Rounds } from '../rounds.ts';
import type { NftTable } from '../ruleset/nft-table.ts';
import { PolicyModel } from './model/policy-model.ts';
import { policyPodOf, type PolicyPod } from './model/policy-pod.ts';
import { MAPS } from './model/rule-text.ts';

export interface EnforcerOptions {
  client: Client;
  clock: Clock;
  log: Log;
  informers: SharedInformers;
  table: NftTable;
  /** Brings the table into the kernel. */
  flush: () => Promise<void>;
  /** Peers that are no Pods but are selected like some. */
  standIns: readonly PolicyPod[];
  /** The address that a Pod of this node has. */
  addressOf: (uid: string) => string | undefined;
  /** Absent: there is no other node. */
  nodeName?: string;
}

/** Work on the model between two turns of the event loop. */
const SLICE_MS = 4;
/** A list may be older than a deletion that the watch has already told of; this many deletions are remembered. */
const REMEMBERED_DELETIONS = 1000;

/** Follows NetworkPolicies, Namespaces and Pods, and keeps the rules of the table equal to what they say. */
export class PolicyEnforcer {
  readonly model: PolicyModel;
  #options: EnforcerOptions;
  /** Addresses that are cut off: something uses them here, but no Pod that is known. */
  #strays = new Set<string>();
  #deleted = new Map<string, string>();
  #pods: Informer;
  #stops: (() => void)[] = [];
  #rounds = new Rounds(() => this.#settle());

  constructor(options: EnforcerOptions) {
    this.#options = options;
    this.model = new PolicyModel(options.table);
    this.#pods = options.informers.get(Pod);
    for (const pod of options.standIns) this.model.setPod(pod);
  }

  /** Resolves when the caches hold everything; nothing is in the kernel before `apply`. */
  async start(signal?: AbortSignal): Promise<void> {
    const { informers } = this.#options;
    const policies = informers.get(NetworkPolicy);
    const namespaces = informers.get(Namespace);
    this.#stops = [
      namespaces.onChange((change) => this.#onNamespace(change)),
      policies.onChange((change) => this.#onPolicy(change)),
      this.#pods.onChange((change) => this.#onPod(change)),
    ];
    await Promise.all([policies, namespaces, this.#pods].map((informer) => informer.whenSynced(signal)));
  }

  /** Resolves when the kernel holds everything that is known now. */
  apply(): Promise<void> {
    return this.#rounds.request();
  }

  /** The policies that select the Pod hold when this resolves, also those that our watch has not told of yet. */
  async attach(pod: KubeObject): Promise<void> {
    const { uid = '', namespace = '' } = pod.metadata;
    this.#readmit(this.#options.addressOf(uid));
    this.#show(this.#newest(pod));
    const { items } = await this.#options.client.resource(NetworkPolicy, namespace).listAll();
    for (const policy of items) this.#learn(policy);
    await this.apply();
  }

  /** The Pod's address is given up. The caller applies it. */
  detach(uid: string, address: string): void {
    this.#readmit(address);
    this.model.deletePod(uid);
  }

  /** Nothing goes to or from the address until a Pod with it is known: no policy can be judged for it. */
  cutOff(address: string): void {
    this.#strays.add(address);
    for (const map of Object.values(MAPS)) this.#options.table.addElement(map, address, 'drop');
  }

  readmitAllBut(addresses: readonly string[]): void {
    for (const address of this.#strays) if (!addresses.includes(address)) this.#readmit(address);
  }

  #readmit(address: string | undefined): void {
    if (address === undefined || !this.#strays.delete(address)) return;
    for (const map of Object.values(MAPS)) this.#options.table.deleteElement(map, address);
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops) stop();
    await this.#rounds.idle();
  }

  #onNamespace({ type, object }: Change<KubeObject>): void {
    if (type === 'deleted') this.model.deleteNamespace(object.metadata.name!);
    else this.model.setNamespace(object.metadata.name!, object.metadata.labels ?? {});
    this.#applySoon();
  }

  #onPolicy({ type, object }: Change<KubeObject>): void {
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    if (type === 'deleted') {
      this.#deleted.set(key, object.metadata.resourceVersion ?? '');
      if (this.#deleted.size > REMEMBERED_DELETIONS) this.#deleted.delete(this.#deleted.keys().next().value!);
      this.model.deletePolicy(key);
    } else this.#learn(object);
    this.#applySoon();
  }

  /** Older states than the known one are not news. */
  #learn(policy: KubeObject): void {
    const key = `${policy.metadata.namespace}/${policy.metadata.name}`;
    const version = policy.metadata.resourceVersion ?? '';
    if (isOlder(version, this.#deleted.get(key)) || isOlder(version, this.model.policyVersion(key))) return;
    this.model.setPolicy(policy);
  }

  #onPod({ type, object }: Change<KubeObject>): void {
    const uid = object.metadata.uid ?? '';
    if (type === 'deleted') {
      // A Pod of this node keeps its rules until its network is taken away.
      if (this.#options.addressOf(uid) === undefined) this.model.deletePod(uid);
    } else {
      this.#readmit(this.#options.addressOf(uid));
      this.#show(object);
    }
    this.#applySoon();
  }

  /** The Pod as the API last told of it. */
  podObject(uid: string): KubeObject | undefined {
    const known = this.model.pod(uid);
    const pod = known && this.#pods.find(known.namespace, known.name);
    return pod?.metadata.uid === uid ? pod : undefined;
  }

  usesMachineNetwork({ namespace, name, uid }: PodReference): boolean {
    const pod = this.#pods.find(namespace, name);
    return pod?.metadata.uid === uid && pod.spec?.hostNetwork === true;
  }

  #show(pod: KubeObject): void {
    const uid = pod.metadata.uid ?? '';
    const addresses = this.#addressesOf(pod);
    if (addresses.length > 0) this.model.setPod(policyPodOf(pod, addresses));
    else this.model.deletePod(uid);
  }

  /**
   * Pods of this node have the address that they were given. What their status says may be another's by now, so it counts only for Pods that
   * are not in our network.
   */
  #addressesOf(pod: KubeObject): string[] {
    const { addressOf, nodeName } = this.#options;
    const given = addressOf(pod.metadata.uid ?? '');
    if (given !== undefined) return [given];
    const local = nodeName === undefined || pod.spec?.nodeName === nodeName;
    const phase = pod.status?.phase;
    if ((local && pod.spec?.hostNetwork !== true) || phase === 'Succeeded' || phase === 'Failed') return [];
    const told = (pod.status?.podIPs ?? [{ ip: pod.status?.podIP }]) as { ip?: string }[];
    return told.flatMap(({ ip }) => (ip !== undefined && /^[\d.]+$/.test(ip) ? [ip] : []));
  }

  #newest(pod: KubeObject): KubeObject {
    const cached = this.#pods.find(pod.metadata.namespace, pod.metadata.name ?? '');
    if (!cached || cached.metadata.uid !== pod.metadata.uid) return pod;
    return isOlder(pod.metadata.resourceVersion ?? '', cached.metadata.resourceVersion) ? cached : pod;
  }

  #applySoon(): void {
    this.apply().catch((error: unknown) => this.#options.log.error('cannot bring network policies into the kernel', { error }));
  }

  async #settle(): Promise<void> {
    const { clock } = this.#options;
    // Changes come in crowds: one turn later, there are more of them.
    await nextTurn();
    let began = clock.monotonic();
    for (const _ of this.model.settle()) {
      if (clock.monotonic() - began < SLICE_MS) continue;
      await nextTurn();
      began = clock.monotonic();
    }
    await this.#options.flush();
  }
}

/** What cannot be compared is taken for new. */
function isOlder(version: string, than: string | undefined): boolean {
  return (versionOrder(version, than) ?? 1) < 0;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
