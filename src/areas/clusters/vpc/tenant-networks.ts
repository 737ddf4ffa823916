import { TenantClusterKind, type TenantCluster } from '../../../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { VpcKind, type Vpc as VpcObject } from '../../../api/tenantry.dev/v1alpha1/vpc.ts';
import { ipv4Range } from '../../../kube/ipv4-range.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { Platform, Vpc } from '../network/model/vpc.ts';
import { NetworkKeeper } from '../network/network-keeper.ts';
import type { Device } from '../network/networks.ts';
import type { OpenedNetworks } from '../network/open-networks.ts';
import { networkPlan, type Planned } from './model/network-plan.ts';

/** Opens the provider; asked once, and not before somebody wants a network. */
export type OpenNetworks = () => Promise<OpenedNetworks>;

/** What became of a VPC; `refused`: it cannot be made as its object says, until that changes. */
export type VpcState = { state: 'Made'; provider: string } | { state: 'Refused' | 'NotMade' | 'NoNetworks'; message: string };

/** A worker's place, as the machine needs it. */
export interface WorkerPlace {
  device: Device;
  mac: string;
  /** With the length of its prefix: 10.0.1.12/24. */
  address: string;
  gateway: string;
}

type Opened = Exclude<OpenedNetworks, { unable: string }> & { keeper: NetworkKeeper };

/** What was asked for last, and what became of it. */
interface Made {
  text: string;
  planned: Planned;
  failures: ReadonlyMap<string, string>;
}

/**
 * The networks of all tenants, as the objects say at the moment somebody asks. Whoever asks while they are being made shares the next round with
 * all others that do.
 */
export class TenantNetworks {
  readonly #open: OpenNetworks;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #vpcs: Informer<VpcObject>;
  readonly #clusters: Informer<TenantCluster>;
  #opened: Promise<Opened | { unable: string }> | undefined;
  #unable: string | undefined;
  #round: Promise<Made> | undefined;
  #next: Promise<Made> | undefined;
  #made: Made | undefined;

  constructor({ open, informers, clock, log }: { open: OpenNetworks; informers: SharedInformers; clock: Clock; log: Log }) {
    this.#open = open;
    this.#clock = clock;
    this.#log = log;
    this.#vpcs = informers.get(VpcKind);
    this.#clusters = informers.get(TenantClusterKind);
  }

  /** Why there can be none here, as far as anybody has asked. */
  get unable(): string | undefined {
    return this.#unable;
  }

  /** Finds out whether there can be networks here. @returns why not */
  async ask(): Promise<string | undefined> {
    const opened = await this.#provider();
    return 'unable' in opened ? opened.unable : undefined;
  }

  /** Why the provider cannot make such a VPC, in words for its owner. */
  async refusal(vpc: Vpc): Promise<string | undefined> {
    const opened = await this.#provider();
    if ('unable' in opened) return opened.unable;
    const { networks, wire } = opened;
    const outside = wire && vpc.subnets.find(({ vlan }) => vlan !== undefined && (vlan < wire.first || vlan > wire.last));
    if (outside) {
      return `Cannot use VLAN "${outside.vlan}" for subnet "${outside.name}": tenants have ${wire.first} to ${wire.last}; choose one of these`;
    }
    return networks.unable(vpc);
  }

  async platform(): Promise<Platform> {
    const opened = await this.#provider();
    if ('unable' in opened) throw new Error(opened.unable);
    return opened.platform;
  }

  /** Makes the networks what the objects say, and tells what became of one. */
  async ensure(vpc: string): Promise<VpcState> {
    const opened = await this.#provider();
    if ('unable' in opened) return { state: 'NoNetworks', message: opened.unable };
    const { planned, failures } = await this.#ensureAll(opened);
    const refused = planned.refused.get(vpc);
    if (refused !== undefined) return { state: 'Refused', message: refused };
    const failure = failures.get(vpc);
    if (failure !== undefined) return { state: 'NotMade', message: failure };
    return { state: 'Made', provider: opened.networks.provider };
  }

  /**
   * Where the link of a worker is, once it is there. The worker is in the status of its cluster, with its attachment, and that was seen.
   * @returns undefined when it was not seen yet, or its VPC could not be made
   */
  async placeOf({ metadata }: TenantCluster, worker: string): Promise<WorkerPlace | undefined> {
    const cluster = this.#clusters.get(`${metadata.namespace}/${metadata.name}`);
    const network = cluster?.status?.network;
    if (network === undefined || (await this.ensure(network.vpc)).state !== 'Made') return undefined;
    const opened = await this.#provider();
    const vpc = this.#made?.planned.plan.vpcs.find(({ name }) => name === network.vpc);
    const port = vpc?.ports.find(({ name }) => name === worker);
    if ('unable' in opened || !vpc || !port) return undefined;
    const { first, last } = ipv4Range(network.cidr);
    return {
      device: opened.networks.deviceOf(vpc, port),
      mac: port.mac,
      address: `${port.address}/${32 - Math.log2(last - first + 1)}`,
      gateway: network.gateway,
    };
  }

  /** Where programs of a VPC's router run; undefined: the provider runs none. */
  async routerOf(vpc: string): Promise<{ namespace: string; vpnLink: string } | undefined> {
    const opened = await this.#provider();
    return 'unable' in opened ? undefined : opened.networks.routerOf?.(vpc);
  }

  /** Leaves the networks as they are. */
  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined);
    if (opened && !('unable' in opened)) await opened.keeper.stop();
  }

  #provider(): Promise<Opened | { unable: string }> {
    return (this.#opened ??= this.#openOnce().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    }));
  }

  async #openOnce(): Promise<Opened | { unable: string }> {
    const provider = await this.#open();
    this.#unable = 'unable' in provider ? provider.unable : undefined;
    if ('unable' in provider) return provider;
    return { ...provider, keeper: new NetworkKeeper({ networks: provider.networks, clock: this.#clock, log: this.#log }) };
  }

  /** A round that has begun may have missed what is asked for; the next one has it. */
  #ensureAll(opened: Opened): Promise<Made> {
    if (this.#round === undefined) return this.#begin(opened);
    return (this.#next ??= this.#round
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.#begin(opened);
      }));
  }

  #begin(opened: Opened): Promise<Made> {
    const round = this.#makeAll(opened).finally(() => {
      if (this.#round === round) this.#round = undefined;
    });
    this.#round = round;
    return round;
  }

  async #makeAll({ keeper, platform }: Opened): Promise<Made> {
    const planned = networkPlan([...this.#vpcs.list()], [...this.#clusters.list()], platform);
    const text = JSON.stringify(planned.plan);
    if (this.#made?.text === text && this.#made.failures.size === 0) return (this.#made = { ...this.#made, planned });
    // It may fail half way: what is asked for next is made whatever it is.
    this.#made = undefined;
    const outcomes = await keeper.want(planned.plan);
    const failures = new Map(outcomes.flatMap(({ name, error }) => (error ? [[name, error.message] as const] : [])));
    return (this.#made = { text, planned, failures });
  }
}
