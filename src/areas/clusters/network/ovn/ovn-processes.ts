import { existsSync } from 'node:fs';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep } from '../../../../lib/abort.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { runCommand } from '../../../../lib/run-command.ts';

/** The longest path of a socket that the kernel takes, with room for the longest name in the folder. */
const MAX_FOLDER = 108 - '/ovn-controller.1234567.ctl'.length;

const SCHEMAS = {
  nb: '/usr/share/ovn/ovn-nb.ovsschema',
  sb: '/usr/share/ovn/ovn-sb.ovsschema',
  switch: '/usr/share/openvswitch/vswitch.ovsschema',
} as const;

/**
 * In the order of their start. A switch in user space stands still while it has no database, so it has a server of its own that does nothing else.
 * Only the switch cares which namespace it is in.
 */
const PROCESSES = ['central-db', 'ovn-northd', 'switch-db', 'ovs-vswitchd', 'ovn-controller'] as const;
export type OvnProcess = (typeof PROCESSES)[number];

/**
 * Half of what these programs do is to allocate and free small pieces. Freed ones are kept at hand, and memory is asked for and given back in large
 * parts: it is an eighth less work. Other C libraries do not look at it.
 */
const ALLOCATOR = [
  'tcache_count=65535',
  'tcache_max=1024',
  'mxfast=0',
  `top_pad=${32 * 1024 * 1024}`,
  `trim_threshold=${256 * 1024 * 1024}`,
]
  .map((setting) => `glibc.malloc.${setting}`)
  .join(':');

const END_MS = 5000;
const LOOK_MS = 20;

/**
 * The programs of OVN, for one instance: database servers, and those that turn rows into packets. They are detached and outlive
 * us; a file with the process id is what finds them again.
 */
export class OvnProcesses {
  readonly #folder: string;
  readonly #clock: Clock;

  constructor(folder: string, clock: Clock) {
    if (Buffer.byteLength(folder) > MAX_FOLDER) {
      throw new Error(
        `Cannot keep OVN's sockets in "${folder}": the path is longer than ${MAX_FOLDER} bytes; use a shorter data directory`,
      );
    }
    this.#folder = folder;
    this.#clock = clock;
  }

  /** Where the northbound and the southbound database are. */
  get central(): string {
    return `unix:${join(this.#folder, 'central.sock')}`;
  }

  get #switch(): string {
    return `unix:${join(this.#folder, 'switch.sock')}`;
  }

  /** Starts what does not run, with the switch in this namespace. The controller comes last: it reads its settings when it starts. */
  async start(namespace: string, configure: () => Promise<void>): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const [name, schema] of Object.entries(SCHEMAS)) {
      const file = join(this.#folder, `${name}.db`);
      if (!existsSync(file)) await runCommand('ovsdb-tool', ['create', file, schema]);
    }
    // A switch that is left in a namespace that was deleted moves nobody's packets any more.
    if ((await this.#namespaceOf('ovs-vswitchd')) !== (await stat(namespace)).ino) await this.#stopOne('ovs-vswitchd');
    for (const name of PROCESSES) {
      if (name === 'ovn-controller') await configure();
      if ((await this.#pid(name)) === undefined) await this.#launch(name, namespace);
    }
  }

  /** Whether all of them run, the switch in this namespace. */
  async running(namespace: string): Promise<boolean> {
    const pids = await Promise.all(PROCESSES.map((name) => this.#pid(name)));
    return pids.every((pid) => pid !== undefined) && (await this.#namespaceOf('ovs-vswitchd')) === (await stat(namespace)).ino;
  }

  async stop(): Promise<void> {
    for (const name of PROCESSES.toReversed()) await this.#stopOne(name);
  }

  /** `ovn-nbctl`, `ovn-sbctl`, `ovs-vsctl` and `ovn-trace`, told where the databases are. */
  run(tool: string, args: readonly string[]): Promise<string> {
    const db = tool === 'ovs-vsctl' ? this.#switch : this.central;
    return runCommand(tool, [`--db=${db}`, ...args], { env: this.#environment() });
  }

  async #stopOne(name: OvnProcess): Promise<void> {
    const pid = await this.#pid(name);
    if (pid === undefined) return;
    process.kill(pid, 'SIGTERM');
    const deadline = this.#clock.monotonic() + END_MS;
    // The file goes before the process does, which may still be taking away sockets that the next one has under the same names.
    while (await this.#isOurs(pid, name)) {
      if (this.#clock.monotonic() > deadline) process.kill(pid, 'SIGKILL');
      await sleep(this.#clock, LOOK_MS);
    }
  }

  async #namespaceOf(name: OvnProcess): Promise<number | undefined> {
    const pid = await this.#pid(name);
    return pid === undefined ? undefined : inodeOf(`/proc/${pid}/ns/net`);
  }

  #environment(): Record<string, string> {
    const folders = ['RUNDIR', 'LOGDIR', 'DBDIR'].flatMap((name) => [`OVS_${name}`, `OVN_${name}`]);
    return { ...Object.fromEntries(folders.map((name) => [name, this.#folder])), GLIBC_TUNABLES: ALLOCATOR };
  }

  async #launch(name: OvnProcess, namespace: string): Promise<void> {
    const file = (suffix: string): string => join(this.#folder, `${name}.${suffix}`);
    const common = [
      '--detach',
      '--no-chdir',
      `--pidfile=${file('pid')}`,
      '--overwrite-pidfile',
      `--log-file=${file('log')}`,
      '-vconsole:off',
      '-vsyslog:off',
    ];
    const databases = (...names: (keyof typeof SCHEMAS)[]): string[] => [
      `--unixctl=${file('ctl')}`,
      ...names.map((db) => join(this.#folder, `${db}.db`)),
    ];
    const command: Record<OvnProcess, string[]> = {
      'central-db': ['ovsdb-server', `--remote=p${this.central}`, ...databases('nb', 'sb')],
      'ovn-northd': ['ovn-northd', `--ovnnb-db=${this.central}`, `--ovnsb-db=${this.central}`],
      'switch-db': ['ovsdb-server', `--remote=p${this.#switch}`, ...databases('switch')],
      'ovs-vswitchd': ['ovs-vswitchd', '--disable-system', this.#switch],
      'ovn-controller': ['ovn-controller', this.#switch],
    };
    await runCommand('nsenter', [`--net=${namespace}`, ...command[name], ...common], { env: this.#environment() });
  }

  async #pid(name: OvnProcess): Promise<number | undefined> {
    const pid = Number(await readFile(join(this.#folder, `${name}.pid`), 'utf8').catch(() => ''));
    return pid > 0 && (await this.#isOurs(pid, name)) ? pid : undefined;
  }

  /** Whether this process runs and is ours: ids are used again. One that has ended, and that nobody has asked about, has no arguments. */
  async #isOurs(pid: number, name: OvnProcess): Promise<boolean> {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return command.includes(join(this.#folder, `${name}.pid`));
  }
}

async function inodeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).ino;
  } catch {
    return undefined;
  }
}
