import { CommandError } from '../../../../lib/run-command.ts';
import type { Platform, Vpc } from '../model/vpc.ts';
import { externalCommands, removalCommands, rowsOf, vpcCommands, type Command, type Rows } from './northbound.ts';

interface Wanted {
  vpc: Vpc;
  peers: readonly Vpc[];
}

const TABLES = {
  routers: 'Logical_Router',
  switches: 'Logical_Switch',
  switchPorts: 'Logical_Switch_Port',
  routerPorts: 'Logical_Router_Port',
  groups: 'Port_Group',
  balancers: 'Load_Balancer',
} as const satisfies Record<keyof Rows, string>;

/** What the kernel takes as the arguments of one process, with room to spare. */
const MAX_BYTES = 1_000_000;

const PATIENCE = '--timeout=60';

/** OVN's northbound database: what there should be. Commands of many VPCs share a transaction; `run` is `ovn-nbctl`. */
export class Northbound {
  readonly #run: (args: readonly string[]) => Promise<string>;

  constructor(run: (args: readonly string[]) => Promise<string>) {
    this.#run = run;
  }

  /** Writes what differs, and takes away what none has; it holds once `settled`. Says what could not be written, by VPC. */
  async write(all: readonly Wanted[], stale: readonly Wanted[], platform: Platform): Promise<Map<string, Error>> {
    const rows = await this.#rows();
    const removals = removalCommands(rows, rowsOf(all));
    const failed = new Map<string, Error>();
    const programs = stale.map(({ vpc, peers }) => ({ name: vpc.name, commands: vpcCommands(vpc, peers, platform, rows.groups) }));
    try {
      await this.#commit([...removals.map((command) => [command]), externalCommands(), ...programs.map(({ commands }) => commands)]);
    } catch {
      // One of them is wrong, and all are refused: each by itself says which.
      await this.#commit([...removals.map((command) => [command]), externalCommands()]);
      for (const { name, commands } of programs) {
        try {
          await this.#commit([commands]);
        } catch (error) {
          const said = error instanceof CommandError ? error.stderr.trim() : String(error);
          failed.set(name, new Error(`Cannot program VPC "${name}" in OVN: ${said}`));
        }
      }
    }
    return failed;
  }

  /** Waits until the switch does what is written. */
  async settled(): Promise<void> {
    await this.#run([PATIENCE, '--wait=hv', 'sync']);
  }

  async #commit(groups: readonly (readonly Command[])[]): Promise<void> {
    for (const share of shares(groups)) await this.#run([PATIENCE, ...share.flatMap((command) => ['--', ...command])]);
  }

  async #rows(): Promise<Rows> {
    const kinds = Object.keys(TABLES) as (keyof Rows)[];
    const output = await this.#run(['--format=json', ...kinds.flatMap((kind) => ['--', '--columns=name', 'list', TABLES[kind]])]);
    const tables = output
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => new Set((JSON.parse(line) as { data: [string][] }).data.map(([name]) => name)));
    return Object.fromEntries(kinds.map((kind, position) => [kind, tables[position]])) as unknown as Rows;
  }
}

/** Transactions that fit into the arguments of a process. A group is never parted: a router whose policies are to follow would let everything pass. */
function shares(groups: readonly (readonly Command[])[]): Command[][] {
  const all: Command[][] = [[]];
  let bytes = 0;
  for (const commands of groups) {
    const size = commands.flat().reduce((sum, word) => sum + word.length + 12, 12 * commands.length);
    if (bytes > 0 && bytes + size > MAX_BYTES) {
      all.push([]);
      bytes = 0;
    }
    all.at(-1)!.push(...commands);
    bytes += size;
  }
  return all;
}
