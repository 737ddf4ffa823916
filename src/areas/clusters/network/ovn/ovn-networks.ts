import { rm } from 'node:fs/promises';
import type { Clock } from '../../../../lib/clock.ts';
import { machineRules, type Wall } from '../kernel/machine-rules.ts';
import { readState, STATE_SCRIPT, type NamespaceState } from '../kernel/namespace-state.ts';
import { namespacePath, namespacesWith } from '../kernel/namespaces.ts';
import {
  failuresByOwner,
  given,
  groupRemoval,
  ipScript,
  machineScript,
  removalScript,
  runPieces,
  setting,
  staleLinkScript,
  type PieceResult,
} from '../kernel/script.ts';
import { peersOf } from '../model/peering.ts';
import { platformOf, type NetworkPlan, type Port, type Vpc } from '../model/vpc.ts';
import type { Device, Networks, VpcObservation, VpcOutcome } from '../networks.ts';
import { InstalledLinks } from './installed-links.ts';
import { BRIDGES, isPortLink, portOf, UPLINK } from './names.ts';
import { Northbound } from './northbound-database.ts';
import { OvnProcesses } from './ovn-processes.ts';
import {
  linkCommands,
  machineAddresses,
  plugCommands,
  switchCommands,
  workerCommands,
  type MachineWays,
  type Tunnels,
} from './switch-program.ts';

export interface OvnNetworksOptions {
  /** Tells the instances on one machine apart: six letters and digits. */
  instance: string;
  /** For databases, sockets and logs. */
  folder: string;
  clock: Clock;
  /** Path of the network namespace that plays the machine; absent: the one this process is in. */
  machine?: string;
  /** A link of the machine for tunnels to others, which the switch takes for itself; absent: there are no others. */
  tunnels?: Tunnels;
  /** A link of the machine to the wire for tagged segments, which the switch takes for itself; absent: there are no such segments. */
  wire?: string;
}

const MACHINE_MAC = '02:00:00:00:00:01';

interface Wanted {
  vpc: Vpc;
  peers: readonly Vpc[];
  facts: string;
}

/**
 * VPCs as rows of OVN, and a switch in user space that moves their packets. The switch has a network namespace of its own, with one link to the
 * machine: nothing of it meets another switch of the machine, and all of it ends with the namespace.
 */
export class OvnNetworks implements Networks {
  readonly provider = 'ovn';
  readonly #options: Required<Pick<OvnNetworksOptions, 'machine'>> & OvnNetworksOptions;
  readonly #processes: OvnProcesses;
  readonly #northbound: Northbound;
  readonly #installed: InstalledLinks;
  /** What each VPC was made of, as text. */
  readonly #made = new Map<string, string>();
  #links: ReadonlySet<string> = new Set();
  #ready = false;

  constructor(options: OvnNetworksOptions) {
    this.#options = { machine: '/proc/self/ns/net', ...options };
    this.#processes = new OvnProcesses(options.folder, options.clock);
    this.#northbound = new Northbound((args) => this.#processes.run('ovn-nbctl', args));
    this.#installed = new InstalledLinks((args) => this.#processes.run('ovs-vsctl', args));
  }

  /** The tools of OVN, told where the databases are: for looking, `ovn-trace` for instance. */
  run(tool: string, args: readonly string[]): Promise<string> {
    return this.#processes.run(tool, args);
  }

  unable({ name, mode, services }: Vpc): string | undefined {
    if (mode === 'VLAN' && this.#options.wire === undefined) {
      return `Cannot make VPC "${name}" in the mode VLAN: this machine has no wire for tagged segments; name one, or use Overlay`;
    }
    if (services.length > 0)
      return `Cannot let programs listen in the router of VPC "${name}": OVN's routers run none; use the provider linux`;
    return undefined;
  }

  deviceOf(vpc: Vpc, port: Port): Device {
    return { name: portOf(vpc.name, port), namespace: namespacePath(this.#switch) };
  }

  async ensure(plan: NetworkPlan): Promise<VpcOutcome[]> {
    const byName = new Map(plan.vpcs.map((vpc) => [vpc.name, vpc]));
    const all = plan.vpcs.map((vpc): Wanted => {
      const peers = peersOf(vpc, byName);
      return {
        vpc,
        peers,
        facts: JSON.stringify([
          plan.platform,
          vpc,
          peers.map(({ name, index, subnets, loadBalancers }) => [name, index, subnets, loadBalancers]),
        ]),
      };
    });
    const stale = all.filter(({ vpc, facts }) => this.#made.get(vpc.name) !== facts);
    const gone = [...this.#made.keys()].some((name) => !byName.has(name));
    if (this.#ready && stale.length === 0 && !gone) return plan.vpcs.map(({ name }) => ({ name }));
    const switched = this.#ensureSwitch(plan);
    if (!this.#ready) await switched;
    // The machine's side and links are made while OVN works out what the rows mean.
    const works = [switched, this.#link(all, stale), this.#northbound.write(all, stale, plan.platform)] as const;
    await Promise.allSettled(works);
    const [, unlinked, unwritten] = await Promise.all(works);
    const failed = new Map([...unlinked, ...unwritten]);
    // A link may be plugged in after the switch has answered for the rows.
    const awaited = stale.map(({ vpc }) => vpc).filter(({ name }) => !failed.has(name));
    for (const [name, error] of await this.#installed.wait(awaited)) failed.set(name, error);
    for (const { vpc, facts } of stale) this.#made.set(vpc.name, facts);
    for (const name of this.#made.keys()) if (failed.has(name) || !byName.has(name)) this.#made.delete(name);
    this.#ready = true;
    return plan.vpcs.map(({ name }) => ({ name, ...(failed.has(name) ? { error: failed.get(name) } : {}) }));
  }

  async observe(): Promise<VpcObservation[]> {
    const intact = this.#ready && (await this.#isIntact());
    const observations = [...this.#made.keys()].map((name) => ({ name, intact }));
    if (!intact) this.#forget();
    return observations;
  }

  async remove(): Promise<void> {
    this.#forget();
    const { folder } = this.#options;
    await this.#processes.stop();
    const machine = await this.#state(this.#options.machine);
    await this.#onMachine(machineScript(machineRules({ platform: platformOf(), vpcs: [] }, this.#wall), false));
    const links = namespacesWith(this.#switch).has(this.#switch)
      ? [...(await this.#state(namespacePath(this.#switch))).links].filter(isPortLink)
      : [];
    if (links.length > 0) await this.#inSwitch(removalScript(groupRemoval(links)));
    if (machine.links.has(this.#uplink)) await this.#onMachine(ipScript([`link delete ${this.#uplink}`]));
    if (namespacesWith(this.#switch).has(this.#switch)) await this.#onMachine(ipScript([`netns delete ${this.#switch}`]));
    await rm(folder, { recursive: true, force: true });
  }

  get #switch(): string {
    return `tenantry-ovn-${this.#options.instance}`;
  }

  /** The machine's end of the link to the switch. */
  get #uplink(): string {
    return `ovn${this.#options.instance}`;
  }

  get #wall(): Wall {
    return {
      table: `tenantry-ovn-${this.#options.instance}`,
      links: `"${this.#uplink}"`,
      from: { expression: 'ip saddr', type: 'ipv4_addr' },
      transparent: false,
    };
  }

  #forget(): void {
    this.#ready = false;
    this.#made.clear();
  }

  /** The namespace, the link to the machine and the rules on it, and the programs. */
  async #ensureSwitch(plan: NetworkPlan): Promise<void> {
    const machine = await this.#state(this.#options.machine);
    const present = namespacesWith(this.#switch).has(this.#switch);
    const linked = present && machine.links.has(this.#uplink) && (await this.#state(namespacePath(this.#switch))).links.has(UPLINK);
    const commands = [
      ...(present ? [] : [`netns add ${this.#switch}`]),
      ...(!linked && machine.links.has(this.#uplink) ? [`link delete ${this.#uplink}`] : []),
      // Routers remember the machine's hardware address.
      ...(linked ? [] : [`link add ${this.#uplink} address ${MACHINE_MAC} type veth peer name ${UPLINK} netns ${this.#switch}`]),
      ...[this.#options.tunnels?.link, this.#options.wire].flatMap((link) =>
        link !== undefined && machine.links.has(link) ? [`link set ${link} netns ${this.#switch}`] : [],
      ),
      `link set ${this.#uplink} up`,
      ...machineAddresses(plan, this.#uplink, linked ? this.#ways(machine) : { addresses: new Set(), routes: new Set() }),
    ];
    const script = [machineScript(machineRules(plan, this.#wall), plan.vpcs.length > 0), ipScript(commands), withoutOffload(this.#uplink)];
    await this.#onMachine(script.join(''));
    if (!this.#ready) {
      // Packets are the switch's matter alone; the kernel, which sees them too, has nothing to say.
      const kernel = ['all', 'default'].map((name) => setting(`net/ipv6/conf/${name}/disable_ipv6`, '1')).join('');
      await this.#inSwitch(`${kernel}${given('ip -batch -', 'link set lo up\n')}`);
      const settings = switchCommands({ ...this.#options, socket: this.#processes.central });
      await this.#processes.start(namespacePath(this.#switch), async () => {
        await this.#processes.run('ovs-vsctl', ['--timeout=30', ...settings]);
        await this.#inSwitch(given('ip -batch -', wireCommands(this.#options)));
      });
    }
  }

  /** The links of workers, plugged into the switch. */
  async #link(all: readonly Wanted[], stale: readonly Wanted[]): Promise<Map<string, Error>> {
    const { links: present } = await this.#state(namespacePath(this.#switch));
    const groups = stale.flatMap(({ vpc }) => vpc.ports.map((port) => ({ vpc, port, commands: linkCommands(vpc, port, present) })));
    const fresh = groups.filter(({ commands }) => commands.length > 0);
    const owners = fresh.flatMap(({ vpc, commands }) => commands.map(() => vpc.name));
    const places = fresh.flatMap(({ port: { attachment } }) => (attachment.kind === 'Namespace' ? [attachment.path] : []));
    const text = [...places.map(staleLinkScript), ipScript(fresh.flatMap(({ commands }) => commands))].join('');
    const [made] = fresh.length === 0 ? [] : await runPieces([{ name: 'links', namespace: namespacePath(this.#switch), text }]);
    const failed = new Map<string, Error>();
    for (const [name, message] of failuresByOwner(made?.output ?? '', owners))
      failed.set(name, new Error(`Cannot make the links of VPC "${name}": ${message}`));
    for (const { name, output } of await this.#prepareWorkers(stale.filter(({ vpc }) => !failed.has(vpc.name)))) {
      failed.set(name, new Error(`Cannot prepare a worker of VPC "${name}": ${output.trim()}`));
    }
    await this.#plug(all.filter(({ vpc }) => !failed.has(vpc.name)));
    return failed;
  }

  async #prepareWorkers(stale: readonly Wanted[]): Promise<PieceResult[]> {
    const pieces = stale.flatMap(({ vpc }) =>
      vpc.ports.flatMap((port) => {
        if (port.attachment.kind !== 'Namespace') return [];
        const text = `${given('ip -batch -', `${workerCommands(vpc, port).join('\n')}\n`)}${withoutOffload('eth0')}`;
        return [{ name: vpc.name, namespace: port.attachment.path, text }];
      }),
    );
    return (await runPieces(pieces)).filter(({ failed }) => failed);
  }

  async #plug(all: readonly Wanted[]): Promise<void> {
    const wanted = new Set(all.flatMap(({ vpc }) => vpc.ports.map((port) => portOf(vpc.name, port))));
    const listed = await this.#processes.run('ovs-vsctl', ['list-ports', 'br-int']);
    const present = new Set(listed.split('\n').filter(isPortLink));
    const commands = plugCommands(wanted, present);
    if (commands.length > 0) await this.#processes.run('ovs-vsctl', ['--timeout=30', ...commands]);
    const { links } = await this.#state(namespacePath(this.#switch));
    const unwanted = [...links].filter((link) => isPortLink(link) && !wanted.has(link));
    if (unwanted.length > 0) await this.#inSwitch(removalScript(groupRemoval(unwanted)));
    this.#links = wanted;
  }

  async #isIntact(): Promise<boolean> {
    const path = namespacePath(this.#switch);
    if (!namespacesWith(this.#switch).has(this.#switch) || !(await this.#processes.running(path))) return false;
    const [machine, inside] = await Promise.all([this.#state(this.#options.machine), this.#state(path)]);
    const links = inside.links.has(UPLINK) && [...this.#links].every((link) => inside.links.has(link));
    return links && machine.tables.has(`ip ${this.#wall.table}`);
  }

  #ways({ addresses, routes }: NamespaceState): MachineWays {
    const through = (ways: ReadonlyMap<string, string>): string[] =>
      [...ways].filter(([, link]) => link === this.#uplink).map(([way]) => way.split('/')[0]);
    return { addresses: new Set(through(addresses)), routes: new Set(through(routes)) };
  }

  #onMachine(text: string): Promise<string> {
    return runIn(this.#options.machine, text);
  }

  #inSwitch(text: string): Promise<string> {
    return runIn(namespacePath(this.#switch), text);
  }

  async #state(namespace: string): Promise<NamespaceState> {
    return readState(await runIn(namespace, STATE_SCRIPT));
  }
}

/** What goes out of the switch is up; tunnels begin at a bridge of it, because the kernel has none. */
function wireCommands({ tunnels, wire }: Pick<OvnNetworksOptions, 'tunnels' | 'wire'>): string {
  const links = [UPLINK, ...(tunnels ? [tunnels.link, BRIDGES.tunnels] : []), ...(wire === undefined ? [] : [wire])];
  const commands = [
    ...(tunnels ? [`address replace ${tunnels.address} dev ${BRIDGES.tunnels}`] : []),
    ...links.map((link) => `link set ${link} up`),
  ];
  return `${commands.join('\n')}\n`;
}

/** The switch reads packets as they are: one whose checksum is left to hardware would never be right. */
function withoutOffload(link: string): string {
  return `ethtool -K ${link} tx off >/dev/null\n`;
}

async function runIn(namespace: string, text: string): Promise<string> {
  const [{ failed, output }] = await runPieces([{ name: '', namespace, text }]);
  if (failed) throw new Error(`Cannot set up the switch of tenants' networks: ${output.trim()}; it takes root, ip, nft and ethtool`);
  return output;
}
