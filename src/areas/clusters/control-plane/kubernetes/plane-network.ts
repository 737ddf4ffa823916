import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { errorText } from '../../../../lib/log.ts';
import { runCommand } from '../../../../lib/run-command.ts';
import { ControlPlaneError } from '../control-planes.ts';
import type { ClusterFolders, ClusterRecord } from '../process/cluster-folder.ts';
import type { ControlPlaneResource } from '../resource-walk.ts';
import { addressesOf, linkCommands, PlaneNames, planeRules } from './model/plane-rules.ts';

const PROBE = 'unshare --net -- true && nft list tables && ip -V && nsenter --version && setpriv --version';

/** Network namespaces of control planes: what happens between the programs of one is nobody else's to see or to reach. */
export class PlaneNetwork {
  readonly #folders: ClusterFolders;
  readonly #names: PlaneNames;
  #applied: string | undefined;
  /** Those that sleep or are about to go: their records may still be there. */
  readonly #gone = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(folders: ClusterFolders) {
    this.#folders = folders;
    this.#names = new PlaneNames(folders.root);
  }

  /** @returns why this machine cannot, otherwise */
  static async open(folders: ClusterFolders): Promise<PlaneNetwork | string> {
    if (process.getuid?.() !== 0) return 'Tenantry does not run as root';
    try {
      await runCommand('sh', ['-c', PROBE]);
      return new PlaneNetwork(folders);
    } catch (error) {
      return `this machine makes no network namespaces: ${errorText(error)}`;
    }
  }

  addressOf({ link }: ClusterRecord): string | undefined {
    return link === undefined ? undefined : addressesOf(link).plane;
  }

  /** The command that starts a process inside, as the cluster's user. */
  startedBy({ link, user }: ClusterRecord): readonly string[] {
    const enter = ['nsenter', `--net=${this.#path(link!)}`];
    return user === undefined ? enter : [...enter, 'setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--'];
  }

  resource(id: string, { link }: ClusterRecord): ControlPlaneResource {
    return {
      name: 'network',
      keptAsleep: false,
      ensure: () => this.#ensure(id, link!),
      remove: () => this.#remove(id, link!),
    };
  }

  async #ensure(id: string, link: number): Promise<void> {
    if (!existsSync(this.#path(link)) || !this.#hasLink(link)) {
      await this.#takeAway(link);
      const { machine, inside } = linkCommands(link, this.#names);
      try {
        await runCommand('ip', ['-batch', '-'], { input: lines(machine) });
        await runCommand('ip', ['-n', this.#names.namespace(link), '-batch', '-'], { input: lines(inside) });
      } catch (error) {
        await this.#takeAway(link);
        throw new ControlPlaneError('StartFailed', `Cannot make a network for the control plane: ${errorText(error)}`, { cause: error });
      }
    }
    await this.#withoutIpv6(link);
    this.#gone.delete(id);
    await this.#applyRules();
  }

  /** The rules are about the addresses that the link was given; the kernel gives it others by itself. */
  async #withoutIpv6(link: number): Promise<void> {
    const setting = `/proc/sys/net/ipv6/conf/${this.#names.link(link)}/disable_ipv6`;
    if (existsSync(setting)) await writeFile(setting, '1');
  }

  async #remove(id: string, link: number): Promise<void> {
    await this.#takeAway(link);
    this.#gone.add(id);
    await this.#applyRules();
  }

  async #takeAway(link: number): Promise<void> {
    const commands = [
      ...(this.#hasLink(link) ? [`link delete ${this.#names.link(link)}`] : []),
      ...(existsSync(this.#path(link)) ? [`netns delete ${this.#names.namespace(link)}`] : []),
    ];
    if (commands.length > 0) await runCommand('ip', ['-force', '-batch', '-'], { input: lines(commands) }).catch(() => {});
  }

  /** One after the other: each writes all of them. */
  #applyRules(): Promise<void> {
    const work = async () => {
      const records = [...(await this.#folders.records())].filter(([id]) => !this.#gone.has(id)).map(([, record]) => record);
      const rules = planeRules(records, this.#names);
      if (rules === this.#applied) return;
      await runCommand('nft', ['-f', '-'], { input: rules });
      this.#applied = rules;
    };
    const turn = this.#turn.then(work, work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  #path(link: number): string {
    return `/run/netns/${this.#names.namespace(link)}`;
  }

  #hasLink(link: number): boolean {
    return existsSync(`/sys/class/net/${this.#names.link(link)}`);
  }
}

function lines(commands: readonly string[]): string {
  return `${commands.join('\n')}\n`;
}
