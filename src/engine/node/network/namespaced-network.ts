import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { KubeObject } from '../../../kube/object.ts';
import { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { PodReference } from '../pod-reference.ts';
import { AddressFile } from './addresses/address-file.ts';
import { AddressPool } from './addresses/address-pool.ts';
import { addressAt, ipv4Range } from './addresses/ipv4-range.ts';
import { runNft } from './kernel/commands.ts';
import { namespacePath } from './kernel/namespaces.ts';
import { connectTcp } from './kernel/sockets.ts';
import { destroyRouter, ensureRouter, GATEWAY, refuseUnknownConnections, routerName } from './links/router.ts';
import { PodLinks } from './links/pod-links.ts';
import { DEFAULT_DOMAIN, type NetworkOptions } from './network-options.ts';
import { DNS_ADDRESS, FIRST_POD, instanceId, planNetwork, type NetworkPlan } from './network-plan.ts';
import type { PodAttachment, PodNetwork } from './pod-network.ts';
import { ClusterServices, dnsStandIn } from './cluster-services.ts';
import { PolicyEnforcer } from './policies/enforce-policies.ts';
import { NftWriter } from './ruleset/nft-writer.ts';
import { routerTable, SELF } from './ruleset/router-table.ts';
import type { NftTable } from './ruleset/nft-table.ts';

interface Running {
  plan: NetworkPlan;
  pool: AddressPool;
  file: AddressFile;
  links: PodLinks;
  table: NftTable;
  writer: NftWriter;
  enforcer: PolicyEnforcer;
  informers: SharedInformers;
  services: ClusterServices;
}

const ENFORCED = { status: true, reason: 'Nftables', message: 'NetworkPolicies are enforced with nftables' };

/** Every Pod in a network namespace of its own, joined by a router in another one. Needs root, `ip` and `nft`. */
export function createNamespacedNetwork(options: NetworkOptions): PodNetwork {
  return new NamespacedNetwork(options);
}

class NamespacedNetwork implements PodNetwork {
  readonly enforcesPolicies = ENFORCED;
  readonly dns: { address: string; domain: string };
  #options: NetworkOptions;
  #running: Running | undefined;
  #attaching = new Map<string, Promise<PodAttachment>>();

  constructor(options: NetworkOptions) {
    this.#options = options;
    this.dns = { address: addressAt(ipv4Range(options.serviceCidr), DNS_ADDRESS), domain: options.domain ?? DEFAULT_DOMAIN };
  }

  get podCidr(): string | undefined {
    return this.#running?.plan.router.podCidr ?? this.#options.podCidr;
  }

  async start(): Promise<void> {
    if (this.#running) return;
    const { dir, log, client, clock } = this.#options;
    const folder = join(dir, 'network');
    const remembered = await AddressFile.read(folder);
    const plan = await planNetwork(this.#options, remembered);
    const { router } = plan;
    const range = ipv4Range(router.podCidr);
    const pool = new AddressPool({ first: range.first + FIRST_POD, last: range.last - 1 }, remembered);
    const file = new AddressFile(folder, () => ({ podCidr: router.podCidr, ...pool.state() }));
    await ensureRouter(router, log);
    const links = new PodLinks(router.id);
    await links.read();
    const table = routerTable({ node: router.node, gateway: GATEWAY, uplink: router.uplink });
    const writer = new NftWriter({ table, run: (text) => runNft(text, namespacePath(routerName(router.id))), log });
    const informers = this.#options.informers ?? new SharedInformers({ client, log });
    const flush = (): Promise<void> => writer.flush();
    const standIns = [dnsStandIn(plan.dns)];
    const addressOf = (uid: string): string | undefined => pool.get(uid);
    const enforcer = new PolicyEnforcer({ client, clock, log, informers, table, flush, standIns, addressOf });
    const services = new ClusterServices({ options: this.#options, plan, informers, table, enforcer, flush, pool });
    this.#running = { plan, pool, file, links, table, writer, enforcer, informers, services };
    // What the kernel holds from before stays until all is known here; then it is replaced in one step.
    await Promise.all([enforcer.start(), services.follow()]);
    for (const uid of pool.uids()) {
      table.addElement(SELF, selfKey(pool.get(uid)!));
      enforcer.cutOff(uid, pool.get(uid)!);
    }
    await enforcer.apply();
    refuseUnknownConnections(router.id);
    await Promise.all([services.listen(), file.write()]);
  }

  attach(pod: KubeObject): Promise<PodAttachment> {
    const uid = pod.metadata.uid ?? '';
    const under = this.#attaching.get(uid);
    if (under) return under;
    const attaching = this.#attach(pod, uid).finally(() => this.#attaching.delete(uid));
    this.#attaching.set(uid, attaching);
    return attaching;
  }

  async #attach(pod: KubeObject, uid: string): Promise<PodAttachment> {
    const running = this.#started();
    if (pod.spec?.hostNetwork === true) return { addresses: [this.#options.nodeAddress ?? running.plan.router.node] };
    const address = running.pool.assign(uid, running.links.knownAddress(uid));
    running.table.addElement(SELF, selfKey(address));
    await Promise.all([running.file.write(), running.links.attach(uid, address), running.enforcer.attach(pod)]);
    return { namespacePath: running.links.namespacePath(uid), addresses: [address] };
  }

  async detach(podUid: string): Promise<void> {
    const running = this.#started();
    await this.#attaching.get(podUid)?.catch(() => {});
    await running.links.detach(podUid);
    const address = running.pool.release(podUid);
    if (address !== undefined) running.table.deleteElement(SELF, selfKey(address));
    await Promise.all([running.enforcer.detach(podUid), running.file.write()]);
  }

  async cleanUp(livePodUids: ReadonlySet<string>): Promise<void> {
    const { pool, links, enforcer, table, file } = this.#started();
    const live = new Set([...livePodUids, ...this.#attaching.keys()]);
    for (const uid of pool.uids()) {
      if (live.has(uid)) continue;
      table.deleteElement(SELF, selfKey(pool.release(uid)!));
      await enforcer.detach(uid);
    }
    await links.keepOnly(live);
    await Promise.all([enforcer.apply(), file.write()]);
  }

  async dial(pod: PodReference, port: number): Promise<Duplex> {
    const { links, pool } = this.#started();
    const address = pool.get(pod.uid);
    if (address === undefined)
      throw new Error(`Cannot reach Pod "${pod.namespace}/${pod.name}": it has no network here; wait until it runs`);
    const namespace = links.namespacePath(pod.uid);
    try {
      return await connectTcp(namespace, { address: '127.0.0.1', port });
    } catch {
      return connectTcp(namespace, { address, port });
    }
  }

  async stop(): Promise<void> {
    const running = this.#running;
    if (!running) return;
    this.#running = undefined;
    await running.services.stop();
    if (!this.#options.informers) await running.informers.stop();
    await running.enforcer.stop();
    await running.writer.idle();
  }

  async destroy(): Promise<void> {
    await this.stop();
    const { dir, machineNamespace } = this.#options;
    const machine = machineNamespace === undefined ? undefined : namespacePath(machineNamespace);
    await destroyRouter({ id: instanceId(dir), machine });
  }

  #started(): Running {
    if (!this.#running) throw new Error('Cannot use the network of Pods: it is not started; call start first');
    return this.#running;
  }
}

function selfKey(address: string): string {
  return `${address} . ${address}`;
}
