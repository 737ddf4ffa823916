import { join, resolve } from 'node:path';
import type { Duplex } from 'node:stream';
import type { KubeObject } from '../../../kube/object.ts';
import { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { PodReference } from '../pod-reference.ts';
import { AddressFile } from './addresses/address-file.ts';
import { AddressPool } from './addresses/address-pool.ts';
import { addressAt, ipv4Range } from '../../../kube/ipv4-range.ts';
import { CommandShell } from './kernel/command-shell.ts';
import { namespacePath } from './kernel/namespaces.ts';
import { dialFirst } from './kernel/dial-first.ts';
import { markRouter, removeAbandonedRouters } from './links/abandoned-routers.ts';
import { destroyRouter, ensureRouter, GATEWAY, openRouter, routerName } from './links/router.ts';
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
  shells: readonly CommandShell[];
  table: NftTable;
  writer: NftWriter;
  enforcer: PolicyEnforcer;
  informers: SharedInformers;
  services: ClusterServices;
}

type Followers = Pick<Running, 'informers' | 'enforcer' | 'services'>;

/** How often a range for Pods is chosen anew, when another instance is faster. */
const MAX_TRIES = 3;

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
  /** Pods that got their network from this process: nobody's list of the living is newer. */
  #attached = new Set<string>();

  constructor(options: NetworkOptions) {
    this.#options = options;
    this.dns = { address: addressAt(ipv4Range(options.serviceCidr), DNS_ADDRESS), domain: options.domain ?? DEFAULT_DOMAIN };
  }

  get podCidr(): string | undefined {
    return this.#running?.plan.router.podCidr ?? this.#options.podCidr;
  }

  async start(): Promise<void> {
    if (this.#running) return;
    const { dir, log, clock } = this.#options;
    const folder = join(dir, 'network');
    const remembered = await AddressFile.read(folder);
    const plan = await this.#makeRouter(remembered);
    const { router } = plan;
    const range = ipv4Range(router.podCidr);
    const pool = new AddressPool({ first: range.first + FIRST_POD, last: range.last - 1 }, remembered);
    const file = new AddressFile(folder, () => ({ podCidr: router.podCidr, ...pool.state() }));
    const path = namespacePath(routerName(router.id));
    // Links and rules do not wait for each other.
    const shells = [new CommandShell(path), new CommandShell(path)] as const;
    const links = new PodLinks(router.id, shells[0]);
    await links.read();
    const table = routerTable({ node: router.node, gateway: GATEWAY, uplink: router.uplink });
    const writer = new NftWriter({ table, clock, run: (text) => shells[1].run('nft -f -', text), log });
    this.#running = { plan, pool, file, links, table, writer, shells, ...this.#followers(plan, pool, table, writer, shells[0]) };
    try {
      await this.#takeOver(this.#running);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** A range that another instance takes at the same moment is given up for the next, unless it was asked for. */
  async #makeRouter(remembered: { podCidr?: string }): Promise<NetworkPlan> {
    const { dir, log } = this.#options;
    await removeAbandonedRouters(this.#machine(), log);
    for (let tries = 1; ; tries++) {
      const plan = await planNetwork(this.#options, remembered);
      try {
        await ensureRouter(plan.router, log);
        await markRouter(plan.router.id, resolve(dir), plan.router.machine);
        return plan;
      } catch (error) {
        if (this.#options.podCidr !== undefined || tries === MAX_TRIES) throw error;
        log.warn('cannot make the router of Pods; trying again', { podCidr: plan.router.podCidr, error });
        await destroyRouter(plan.router);
      }
    }
  }

  #followers(plan: NetworkPlan, pool: AddressPool, table: NftTable, writer: NftWriter, shell: CommandShell): Followers {
    const { client, clock, log, nodeName } = this.#options;
    const informers = this.#options.informers ?? new SharedInformers({ client, log });
    const flush = (): Promise<void> => writer.flush();
    const standIns = [dnsStandIn(plan.dns)];
    const addressOf = (uid: string): string | undefined => pool.get(uid);
    const enforcer = new PolicyEnforcer({ client, clock, log, informers, table, flush, standIns, addressOf, nodeName });
    const services = new ClusterServices({ options: this.#options, plan, informers, table, enforcer, flush, pool, shell });
    return { informers, enforcer, services };
  }

  /** What the kernel holds from before stays until all is known here; then it is replaced in one step. */
  async #takeOver({ plan, pool, links, table, enforcer, services, file }: Running): Promise<void> {
    await Promise.all([enforcer.start(), services.follow()]);
    for (const uid of pool.uids()) table.addElement(SELF, selfKey(pool.get(uid)!));
    // Whose Pod is not known, nothing can be judged for.
    for (const address of new Set([...pool.addresses(), ...links.knownAddresses()])) {
      const uid = pool.holder(address);
      if (uid === undefined || !enforcer.model.pod(uid)) enforcer.cutOff(address);
    }
    await enforcer.apply();
    openRouter(plan.router.id);
    await Promise.all([services.listen(), file.write()]);
  }

  attach(pod: KubeObject): Promise<PodAttachment> {
    const uid = pod.metadata.uid ?? '';
    const under = this.#attaching.get(uid);
    if (under) return under;
    this.#attached.add(uid);
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
    running.services.openHostPorts(pod, address);
    return { namespacePath: running.links.namespacePath(uid), addresses: [address] };
  }

  async detach(podUid: string): Promise<void> {
    const running = this.#started();
    await this.#attaching.get(podUid)?.catch(() => {});
    this.#attached.delete(podUid);
    await running.links.detach(podUid);
    this.#release(running, podUid);
    await Promise.all([running.enforcer.apply(), running.file.write()]);
  }

  async cleanUp(livePodUids: ReadonlySet<string>): Promise<void> {
    const running = this.#started();
    const live = new Set([...livePodUids, ...this.#attached]);
    await running.links.keepOnly(live);
    for (const uid of running.pool.uids()) if (!live.has(uid)) this.#release(running, uid);
    running.enforcer.readmitAllBut(running.pool.addresses());
    await Promise.all([running.enforcer.apply(), running.file.write()]);
  }

  /** The address is anybody's from now on, so the rules go with it. */
  #release({ pool, table, enforcer, services }: Running, uid: string): void {
    const address = pool.release(uid);
    if (address === undefined) return;
    services.closeHostPorts(uid);
    table.deleteElement(SELF, selfKey(address));
    enforcer.detach(uid, address);
  }

  async dial(pod: PodReference, port: number): Promise<Duplex> {
    const { links, pool, enforcer, plan } = this.#started();
    const address = pool.get(pod.uid);
    if (address !== undefined) return dialFirst(links.namespacePath(pod.uid), ['127.0.0.1', '::1', address], port);
    if (enforcer.usesMachineNetwork(pod)) return dialFirst(plan.router.machine, ['127.0.0.1', '::1'], port);
    throw new Error(`Cannot reach Pod "${pod.namespace}/${pod.name}": it has no network here; wait until it runs`);
  }

  async stop(): Promise<void> {
    const running = this.#running;
    if (!running) return;
    this.#running = undefined;
    await running.services.stop();
    if (!this.#options.informers) await running.informers.stop();
    await running.enforcer.stop();
    await running.writer.stop();
    for (const shell of running.shells) shell.stop();
  }

  async destroy(): Promise<void> {
    const running = this.#running;
    await this.stop();
    for (const uid of running?.pool.uids() ?? []) running?.pool.release(uid);
    await running?.file.write();
    await destroyRouter({ id: instanceId(this.#options.dir), machine: this.#machine() });
  }

  #machine(): string | undefined {
    const { machineNamespace } = this.#options;
    return machineNamespace === undefined ? undefined : namespacePath(machineNamespace);
  }

  #started(): Running {
    if (!this.#running) throw new Error('Cannot use the network of Pods: it is not started; call start first');
    return this.#running;
  }
}

function selfKey(address: string): string {
  return `${address} . ${address}`;
}
