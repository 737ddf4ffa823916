import { peersOf } from '../model/peering.ts';
import type { NetworkPlan, Platform, Port, Vpc } from '../model/vpc.ts';
import { platformOf } from '../model/vpc.ts';
import type { Device, Networks, VpcObservation, VpcOutcome } from '../networks.ts';
import {
  peerFacts,
  peerLinkCommands,
  removalCommands,
  strayRouteCommands,
  surroundingCommands,
  type Surroundings,
} from './machine-program.ts';
import { machineRules } from '../kernel/machine-rules.ts';
import { namespacePath, namespacesWith } from '../kernel/namespaces.ts';
import { isPortLink, LinuxNames, portLinkOf } from './names.ts';
import { isComplete, routerLinks, routerProgram } from './router-program.ts';
import { routerScript } from './router-script.ts';
import { NOTHING, readState, STATE_SCRIPT, type NamespaceState } from '../kernel/namespace-state.ts';
import { failuresByOwner, groupRemoval, ipScript, machineScript, removalScript, runPieces, type ScriptPiece } from '../kernel/script.ts';

export interface LinuxNetworksOptions {
  /** Tells the instances on one machine apart: six letters and digits. */
  instance: string;
  /** Path of the network namespace that plays the machine; absent: the one this process is in. */
  machine?: string;
}

/** What was made of a VPC, to know what differs. */
interface Made {
  /** Everything that decides about the router, as text. */
  facts: string;
  /** Which namespace it was made in: one that was deleted and made again has another number. */
  inode: number;
  links: ReadonlySet<string>;
}

/** A VPC in the course of one `ensure`. */
interface Wanted extends Surroundings {
  facts: string;
}

/**
 * VPCs as namespaces of this kernel: a router each, with a bridge per subnet, a link to the machine, and rules for what passes. All of it can
 * be read from the kernel, so that there is nothing to remember over a restart: the first `ensure` brings everything into shape, and traffic goes on.
 */
export class LinuxNetworks implements Networks {
  readonly provider = 'linux';
  readonly #names: LinuxNames;
  readonly #machine: string;
  readonly #made = new Map<string, Made>();
  #machineText: string | undefined;

  constructor({ instance, machine = '/proc/self/ns/net' }: LinuxNetworksOptions) {
    this.#names = new LinuxNames(instance);
    this.#machine = machine;
  }

  unable({ name, mode }: Vpc): string | undefined {
    if (mode === 'Overlay') return undefined;
    return `Cannot make VPC "${name}" in the mode ${mode}: the provider linux has no tagged segments; use Overlay, or the provider ovn`;
  }

  deviceOf(vpc: Vpc, port: Port): Device {
    return { name: portLinkOf(port), namespace: namespacePath(this.#names.namespace(vpc.name)) };
  }

  routerOf(vpc: string): { namespace: string; vpnLink: string } {
    return { namespace: namespacePath(this.#names.namespace(vpc)), vpnLink: this.#names.vpnLink(vpc) };
  }

  async ensure(plan: NetworkPlan): Promise<VpcOutcome[]> {
    const inodes = namespacesWith(this.#names.namespacePrefix);
    const stale = await this.#stale(plan, inodes);
    const unwanted = this.#unwanted(plan, inodes);
    const rules = machineRules(plan, this.#names.wall);
    const failed = new Map<string, Error>();
    if (stale.length > 0 || unwanted.length > 0 || rules !== this.#machineText) {
      await this.#clear(unwanted);
      await this.#surround(plan, stale, unwanted, rules, failed);
      await this.#program(plan.platform, stale, failed);
    }
    this.#remember(plan, stale, failed);
    return plan.vpcs.map(({ name }) => ({ name, ...(failed.has(name) ? { error: failed.get(name) } : {}) }));
  }

  async observe(): Promise<VpcObservation[]> {
    const inodes = namespacesWith(this.#names.namespacePrefix);
    const present = [...this.#made.keys()].filter((name) => inodes.get(this.#names.namespace(name)) === this.#made.get(name)!.inode);
    const [machine, states] = await Promise.all([this.#machineState(), this.#states(present)]);
    if (!machine.tables.has(`ip ${this.#names.machineTable}`)) this.#machineText = undefined;
    return [...this.#made].map(([name, { links }]) => {
      const state = states.get(name);
      const intact = state !== undefined && isComplete(state, links) && machine.links.has(this.#names.uplink(name));
      if (!intact) this.#made.delete(name);
      return { name, intact: intact && this.#machineText !== undefined };
    });
  }

  async remove(): Promise<void> {
    await this.ensure({ platform: platformOf(), vpcs: [] });
  }

  /** VPCs that differ from what was made of them, and those whose links end in such. */
  async #stale(plan: NetworkPlan, inodes: ReadonlyMap<string, number>): Promise<Wanted[]> {
    const byName = new Map(plan.vpcs.map((vpc) => [vpc.name, vpc]));
    const all = plan.vpcs.map((vpc) => {
      const peers = peersOf(vpc, byName);
      return { vpc, peers, facts: JSON.stringify([plan.platform, vpc, peers.map(peerFacts)]), state: undefined, broken: false };
    });
    const differs = all.filter(({ vpc: { name }, facts }) => {
      const made = this.#made.get(name);
      return made?.facts !== facts || made.inode !== inodes.get(this.#names.namespace(name));
    });
    const names = new Set(differs.flatMap(({ vpc, peers }) => [vpc.name, ...peers.map(({ name }) => name)]));
    const stale = all.filter(({ vpc }) => names.has(vpc.name));
    const present = stale.map(({ vpc }) => vpc.name).filter((name) => inodes.has(this.#names.namespace(name)));
    const states = await this.#states(present);
    return stale.map((wanted) => {
      const state = states.get(wanted.vpc.name);
      return { ...wanted, state, broken: state === undefined && present.includes(wanted.vpc.name) };
    });
  }

  #unwanted({ vpcs }: NetworkPlan, inodes: ReadonlyMap<string, number>): string[] {
    const wanted = new Set(vpcs.map(({ name }) => this.#names.namespace(name)));
    return [...inodes.keys()].filter((namespace) => !wanted.has(namespace));
  }

  /** A namespace that is deleted ends some time later, and its links with it: whoever is told that they are gone must not find them. */
  async #clear(namespaces: readonly string[]): Promise<void> {
    const pieces = [...(await this.#statesIn(namespaces))].map(([name, { links }]) => {
      const ending = groupRemoval([...links].filter(isPortLink));
      return { name, namespace: namespacePath(name), text: removalScript(ending) };
    });
    await runPieces(pieces.filter(({ text }) => text !== ''));
  }

  /** The machine's side: the second wall first, then namespaces and links. When one VPC's cannot be made, the others' are. */
  async #surround(
    { platform, vpcs }: NetworkPlan,
    stale: readonly Wanted[],
    unwanted: readonly string[],
    rules: string,
    failed: Map<string, Error>,
  ): Promise<void> {
    const machine = await this.#machineState();
    const { links } = machine;
    if (rules !== this.#machineText) {
      const [result] = await runPieces([this.#onMachine('rules', machineScript(rules, stale.length > 0))]);
      if (result.failed) throw new Error(`Cannot set the rules of the machine: ${result.output.trim()}`);
      this.#machineText = rules;
    }
    const states = new Map(stale.flatMap(({ vpc, state }) => (state ? [[vpc.name, state] as const] : [])));
    const each = stale.map((wanted) => ({ name: wanted.vpc.name, commands: surroundingCommands(wanted, links, this.#names, platform) }));
    const between = stale.map((wanted) => ({ name: wanted.vpc.name, commands: peerLinkCommands(wanted, states, this.#names) }));
    const removals = [...strayRouteCommands(vpcs, machine, this.#names), ...removalCommands(unwanted, links, this.#names)];
    await this.#batch([{ name: '', commands: removals }, ...each, ...between], failed);
  }

  /** All in one process. `ip` names the lines that failed, which says whose they were. */
  async #batch(groups: readonly { name: string; commands: readonly string[] }[], failed: Map<string, Error>): Promise<void> {
    const owners = groups.flatMap(({ name, commands }) => commands.map(() => name));
    if (owners.length === 0) return;
    const [result] = await runPieces([this.#onMachine('links', ipScript(groups.flatMap(({ commands }) => commands)))]);
    const failures = failuresByOwner(result.output, owners);
    if (result.failed && failures.size === 0) throw new Error(`Cannot make the links of VPCs: ${result.output.trim()}`);
    for (const [name, message] of failures) failed.set(name, new Error(`Cannot make the links of VPC "${name}": ${message}`));
  }

  async #program(platform: Platform, stale: readonly Wanted[], failed: Map<string, Error>): Promise<void> {
    const pieces = stale
      .filter(({ vpc }) => !failed.has(vpc.name))
      .map(({ vpc, peers, state }) => ({
        name: vpc.name,
        namespace: namespacePath(this.#names.namespace(vpc.name)),
        text: routerScript(routerProgram(vpc, peers, platform, state ?? NOTHING)),
      }));
    for (const { name, failed: refused, output } of await runPieces(pieces)) {
      if (refused) failed.set(name, new Error(`Cannot program the router of VPC "${name}": ${output.trim()}`));
    }
  }

  #remember({ vpcs }: NetworkPlan, stale: readonly Wanted[], failed: ReadonlyMap<string, Error>): void {
    const inodes = namespacesWith(this.#names.namespacePrefix);
    for (const { vpc, peers, facts } of stale) {
      const inode = inodes.get(this.#names.namespace(vpc.name));
      if (failed.has(vpc.name) || inode === undefined) this.#made.delete(vpc.name);
      else this.#made.set(vpc.name, { facts, inode, links: routerLinks(vpc, peers) });
    }
    const names = new Set(vpcs.map(({ name }) => name));
    for (const name of this.#made.keys()) if (!names.has(name)) this.#made.delete(name);
  }

  /** What is in the routers of these VPCs. One that cannot be entered is left out. */
  async #states(vpcs: readonly string[]): Promise<Map<string, NamespaceState>> {
    const states = await this.#statesIn(vpcs.map((name) => this.#names.namespace(name)));
    return new Map(
      vpcs.flatMap((name) => (states.has(this.#names.namespace(name)) ? [[name, states.get(this.#names.namespace(name))!] as const] : [])),
    );
  }

  async #statesIn(namespaces: readonly string[]): Promise<Map<string, NamespaceState>> {
    const results = await runPieces(namespaces.map((name) => ({ name, namespace: namespacePath(name), text: STATE_SCRIPT })));
    return new Map(results.filter(({ failed }) => !failed).map(({ name, output }) => [name, readState(output)]));
  }

  async #machineState(): Promise<NamespaceState> {
    const [{ failed, output }] = await runPieces([this.#onMachine('state', STATE_SCRIPT)]);
    if (failed) throw new Error(`Cannot look at the networks of this machine: ${output.trim()}; it takes root, ip and nft`);
    return readState(output);
  }

  #onMachine(name: string, text: string): ScriptPiece {
    return { name, namespace: this.#machine, text };
  }
}
