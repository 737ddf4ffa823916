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

/**
 * How much is written at once: some thirty VPCs. Each of OVN's programs works for itself and hands on to the next, so that one has the first rows while
 * another still has the last: all at once takes a third longer. It is also less than the kernel takes as the arguments of one process.
 */
const MAX_BYTES = 100_000;

const PATIENCE = '--timeout=60';

/** The switch's answer is asked for with the last rows: asked for afterwards, OVN would work everything out once more. */
const SETTLED = '--wait=hv';

interface Plan {
  /** Of no VPC. */
  common: readonly (readonly Command[])[];
  programs: readonly { name: string; commands: readonly Command[] }[];
}

/** OVN's northbound database: what there should be. Commands of many VPCs share a transaction; `run` is `ovn-nbctl`. */
export class Northbound {
  readonly #run: (args: readonly string[]) => Promise<string>;

  constructor(run: (args: readonly string[]) => Promise<string>) {
    this.#run = run;
  }

  /** Writes what differs, takes away what none has, and waits until the switch does it. Says what could not be written, by VPC. */
  async write(all: readonly Wanted[], stale: readonly Wanted[], platform: Platform): Promise<Map<string, Error>> {
    try {
      const { common, programs } = await this.#plan(all, stale, platform);
      await this.#commit([...common, ...programs.map(({ commands }) => commands)], SETTLED);
      return new Map();
    } catch {
      // One of them is wrong, and its part is refused: each by itself says which. Parts before it are written, so that other commands are due.
      return this.#writeEach(await this.#plan(all, stale, platform));
    }
  }

  async #plan(all: readonly Wanted[], stale: readonly Wanted[], platform: Platform): Promise<Plan> {
    const rows = await this.#rows();
    const common = [...removalCommands(rows, rowsOf(all)).map((command) => [command]), externalCommands()];
    const programs = stale.map(({ vpc, peers }) => ({ name: vpc.name, commands: vpcCommands(vpc, peers, platform, rows.groups) }));
    return { common, programs };
  }

  async #writeEach({ common, programs }: Plan): Promise<Map<string, Error>> {
    const failed = new Map<string, Error>();
    await this.#commit(common);
    for (const { name, commands } of programs) {
      try {
        await this.#commit([commands]);
      } catch (error) {
        const said = error instanceof CommandError ? error.stderr.trim() : String(error);
        failed.set(name, new Error(`Cannot program VPC "${name}" in OVN: ${said}`));
      }
    }
    await this.#run([PATIENCE, SETTLED, 'sync']);
    return failed;
  }

  async #commit(groups: readonly (readonly Command[])[], ...options: string[]): Promise<void> {
    const all = shares(groups);
    for (const [position, share] of all.entries()) {
      const last = position === all.length - 1 ? options : [];
      await this.#run([PATIENCE, ...last, ...share.flatMap((command) => ['--', ...command])]);
    }
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

/** The transactions of what is to be written. A group is never parted: a router whose policies are to follow would let everything pass. */
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
