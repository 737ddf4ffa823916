import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { KubeObject } from '../../../kube/object.ts';
import { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { PodReference } from '../pod-reference.ts';
import { AddressFile } from './addresses/address-file.ts';
import { AddressPool } from './addresses/address-pool.ts';
import { ipv4Range, toText } from '../../../kube/ipv4-range.ts';
import { dialFirst } from './kernel/dial-first.ts';
import { DEFAULT_NODE_PORT_ADDRESS, type NetworkOptions } from './network-options.ts';
import type { PodAttachment, PodNetwork } from './pod-network.ts';
import { followServices, serviceInformers } from './services/follow-services.ts';
import { NodePortProxy } from './services/node-port-proxy.ts';

export type SharedNetworkOptions = Pick<
  NetworkOptions,
  'client' | 'clock' | 'log' | 'dir' | 'nodeName' | 'nodePortAddress' | 'nodeAddress' | 'informers'
> & {
  apiServer?: NetworkOptions['apiServer'];
  /** Why Pods have no network of their own. */
  reason: 'NotRoot' | 'NftablesMissing' | 'Chosen';
  message: string;
};

/** Loopback addresses that nobody else uses; the first thousands stay free for resolvers and the like. */
const POD_ADDRESSES = '127.64.0.0/10';

/** Pods in the machine's own network, each with a loopback address to listen on. Nothing separates them, and Services have node ports only. */
export function createSharedNetwork(options: SharedNetworkOptions): PodNetwork {
  return new SharedNetwork(options);
}

class SharedNetwork implements PodNetwork {
  readonly enforcesPolicies: { status: boolean; reason: string; message: string };
  /** Addresses of Services are nobody's here: what is in this process is reached where it listens. */
  readonly apiServer: PodNetwork['apiServer'];
  #options: SharedNetworkOptions;
  #pool = new AddressPool(podRange());
  #file: AddressFile;
  #proxy: NodePortProxy;
  #informers: SharedInformers | undefined;
  #unfollow: (() => void) | undefined;

  constructor(options: SharedNetworkOptions) {
    this.#options = options;
    this.apiServer = options.apiServer;
    const { clock, log, dir, nodePortAddress = DEFAULT_NODE_PORT_ADDRESS } = options;
    this.enforcesPolicies = { status: false, reason: options.reason, message: options.message };
    this.#file = new AddressFile(join(dir, 'network'), () => ({ podCidr: POD_ADDRESSES, ...this.#pool.state() }));
    this.#proxy = new NodePortProxy({ place: { address: nodePortAddress }, clock, log });
  }

  async start(): Promise<void> {
    const { dir, client, log, nodeName } = this.#options;
    this.#pool = new AddressPool(podRange(), { cursor: firstAddress(dir), ...(await AddressFile.read(join(dir, 'network'))) });
    this.#informers = this.#options.informers ?? new SharedInformers({ client, log });
    const informers = serviceInformers(this.#informers);
    this.#unfollow = followServices(informers, nodeName, (key, ports) => this.#proxy.set(key, ports));
    await Promise.all([informers.services.whenSynced(), informers.slices.whenSynced()]);
  }

  async attach(pod: KubeObject): Promise<PodAttachment> {
    if (pod.spec?.hostNetwork === true) return { addresses: [this.#options.nodeAddress ?? '127.0.0.1'] };
    const address = this.#pool.assign(pod.metadata.uid ?? '');
    await this.#file.write();
    return { addresses: [address] };
  }

  async detach(podUid: string): Promise<void> {
    if (this.#pool.release(podUid) !== undefined) await this.#file.write();
  }

  async cleanUp(livePodUids: ReadonlySet<string>): Promise<void> {
    for (const uid of this.#pool.uids()) if (!livePodUids.has(uid)) this.#pool.release(uid);
    await this.#file.write();
  }

  /** Programs that listen on all addresses are found at the Pod's; those that listen on localhost are not told apart by Pod. */
  dial(pod: PodReference, port: number): Promise<Duplex> {
    const own = this.#pool.get(pod.uid);
    return dialFirst(undefined, [...(own === undefined ? [] : [own]), '127.0.0.1', '::1'], port);
  }

  async stop(): Promise<void> {
    this.#unfollow?.();
    this.#proxy.stop();
    if (!this.#options.informers) await this.#informers?.stop();
  }

  destroy(): Promise<void> {
    return this.stop();
  }
}

function podRange() {
  const range = ipv4Range(POD_ADDRESSES);
  return { first: range.first + 1, last: range.last - 1 };
}

/** Instances on one machine share the range: each begins at a place of its own. */
function firstAddress(dir: string): string {
  const { first, last } = podRange();
  const hash = createHash('sha256').update(dir).digest().readUInt32BE(0);
  return toText(first + (hash % (last - first)));
}
