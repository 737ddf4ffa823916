import type { Vpc } from '../model/vpc.ts';
import { portOf } from './names.ts';
import { installedCommands } from './switch-program.ts';

type Value = string | [kind: 'set' | 'map', content: unknown[]];

/**
 * The links of workers that the switch treats as the rows say. `run` is `ovs-vsctl`. Who is late once is waited for no more, only asked after: other VPCs
 * wait as well for as long as this one takes.
 */
export class InstalledLinks {
  readonly #run: (args: readonly string[]) => Promise<string>;
  #late: ReadonlySet<string> = new Set();

  constructor(run: (args: readonly string[]) => Promise<string>) {
    this.#run = run;
  }

  /** Waits until all links of these VPCs are treated so. Says whose are not, by VPC. */
  async wait(vpcs: readonly Vpc[]): Promise<Map<string, Error>> {
    const links = vpcs.flatMap(({ name, ports }) => ports.map((port) => portOf(name, port)));
    const awaited = links.filter((link) => !this.#late.has(link));
    const isComplete = awaited.length === 0 || (await this.#waitFor(awaited));
    const problems = isComplete && awaited.length === links.length ? new Map<string, string>() : await this.#problems(links);
    this.#late = new Set(problems.keys());
    const failed = new Map<string, Error>();
    for (const { name, ports } of vpcs) {
      const problem = ports.map((port) => problems.get(portOf(name, port))).find((one) => one !== undefined);
      if (problem !== undefined) failed.set(name, new Error(`Cannot plug in the workers of VPC "${name}": ${problem}; it is tried again`));
    }
    return failed;
  }

  async #waitFor(links: readonly string[]): Promise<boolean> {
    try {
      await this.#run(['--timeout=60', ...installedCommands(links)]);
      return true;
    } catch {
      // It ends with the one that takes longest, and does not say which: what there is says it.
      return false;
    }
  }

  /** What is wrong with those of these links that are not treated as the rows say. */
  async #problems(links: readonly string[]): Promise<Map<string, string>> {
    const said = await this.#run(['--timeout=30', '--format=json', '--columns=name,external_ids,error', 'list', 'Interface']);
    const { data } = JSON.parse(said) as { data: [name: string, ids: Value, error: Value][] };
    const known = new Map(data.map(([name, ids, error]) => [name, { ids, error }]));
    return new Map(
      links.flatMap((link) => {
        const found = known.get(link);
        if (found === undefined) return [[link, `the switch has no link ${link}`]];
        const isInstalled = entries(found.ids).some(([key, value]) => key === 'ovn-installed' && value === 'true');
        const why = typeof found.error === 'string' ? found.error : `OVN has not taken up the link ${link} in time`;
        return isInstalled ? [] : [[link, why]];
      }),
    );
  }
}

/** A map, as databases of Open vSwitch write it. */
function entries(value: Value): [string, string][] {
  return typeof value === 'string' ? [] : (value[1] as [string, string][]);
}
