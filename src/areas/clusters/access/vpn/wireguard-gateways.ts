import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep } from '../../../../lib/abort.ts';
import type { Clock, Timer } from '../../../../lib/clock.ts';
import { readIfPresent, replaceFile } from '../../../../lib/pki/private-file.ts';
import { identityOf, processTable, type ProcessIdentity } from '../../../../lib/process-table.ts';
import { ENVIRONMENT, runCommand } from '../../../../lib/run-command.ts';
import { endProcess } from '../../control-plane/process/end-process.ts';
import { gatewayKeys } from './gateway-keys.ts';
import type { Gateways, WantedGateway } from './gateways.ts';
import { hexOf, UAPI_GET, uapiChange } from './model/uapi.ts';
import { UapiSocket } from './uapi-socket.ts';

export const WIREGUARD_PROGRAM = 'wireguard-go';

/** Where every WireGuard in user space has its socket. */
const SOCKET_FOLDER = '/var/run/wireguard';
const START_MS = 10_000;
const POLL_MS = 20;
/** Nobody tells that a router was made again, in another namespace than the one its gateway is in: one has to look. */
const LOOK_MS = 5000;
/** What is left of a packet of 1500 bytes. */
const MTU = 1420;

interface Running {
  link: string;
  process: ProcessIdentity;
  socket: UapiSocket;
  namespace: string;
  inode: number;
}

/** What is written down of a process before anything depends on it. */
interface Recorded {
  link: string;
  process: ProcessIdentity;
}

/** Gateways as processes of wireguard-go in the routers of tenants, found by their socket and record after a restart of ours. */
export class WireguardGateways implements Gateways {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #running = new Map<string, Running>();
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #listeners = new Set<(id: string) => void>();
  #timer: Timer | undefined;

  constructor({ folder, clock }: { folder: string; clock: Clock }) {
    this.#folder = folder;
    this.#clock = clock;
  }

  async unable(): Promise<string | undefined> {
    try {
      await runCommand('sh', ['-c', `command -v ${WIREGUARD_PROGRAM} && test -c /dev/net/tun`]);
      return undefined;
    } catch {
      return `Cannot run VPN gateways: ${WIREGUARD_PROGRAM} is not on the path, or there is no /dev/net/tun; install it`;
    }
  }

  ensure(wanted: WantedGateway): Promise<{ publicKey: string }> {
    return this.#inTurn(wanted.id, () => this.#ensure(wanted));
  }

  remove(id: string): Promise<void> {
    return this.#inTurn(id, async () => {
      await this.#end(id);
      await rm(this.#file(id, 'key'), { force: true });
      await rm(this.#file(id, 'log'), { force: true });
    });
  }

  onEnd(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#timer?.cancel();
    for (const { socket } of this.#running.values()) socket.close();
    this.#running.clear();
  }

  async #ensure(wanted: WantedGateway): Promise<{ publicKey: string }> {
    const keys = await gatewayKeys(this.#file(wanted.id, 'key'));
    const { socket } = (await this.#present(wanted)) ?? (await this.#start(wanted));
    const state = {
      privateKey: hexOf(keys.privateKey),
      port: wanted.port,
      peers: wanted.peers.map(({ publicKey, addresses }) => ({ publicKey: hexOf(publicKey), allowed: addresses })),
    };
    const change = uapiChange(await socket.ask(UAPI_GET), state);
    if (change !== undefined) await socket.ask(change);
    await this.#route(wanted);
    this.#timer ??= this.#lookLater();
    return { publicKey: keys.publicKey };
  }

  /** The one that runs where it should, from before a restart of ours too. */
  async #present({ id, link, namespace }: WantedGateway): Promise<Running | undefined> {
    const inode = statSync(namespace).ino;
    const known = this.#running.get(id);
    if (known?.inode === inode && known.link === link && processTable.isAlive(known.process)) return known;
    const recorded = known ?? (await this.#recorded(id));
    if (recorded && recorded.link === link && processTable.isAlive(recorded.process) && inodeOf(recorded.process.pid) === inode) {
      return this.#follow(id, { ...recorded, namespace, inode }).catch(() => undefined);
    }
    await this.#end(id);
    return undefined;
  }

  async #start({ id, link, namespace }: WantedGateway): Promise<Running> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await rm(join(SOCKET_FOLDER, `${link}.sock`), { force: true });
    const log = await open(this.#file(id, 'log'), 'w', 0o600);
    // It speaks with strangers: of root's rights it has the one to make its link.
    const rights = ['--no-new-privs', '--bounding-set=-all,+net_admin', '--inh-caps=-all'];
    const child = spawn('nsenter', [`--net=${namespace}`, 'setpriv', ...rights, WIREGUARD_PROGRAM, '-f', link], {
      cwd: '/',
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      env: ENVIRONMENT,
    });
    const failed = new Promise<never>((_resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        void readIfPresent(this.#file(id, 'log')).then((said = '') =>
          reject(new Error(`Cannot start the VPN gateway: ${WIREGUARD_PROGRAM} ended with ${signal ?? code}: ${said.trim().slice(-500)}`)),
        );
      });
    });
    failed.catch(() => {});
    child.unref();
    await log.close();
    if (child.pid === undefined) return failed;
    const process = identityOf(child.pid);
    await replaceFile(this.#file(id, 'json'), `${JSON.stringify({ link, process } satisfies Recorded)}\n`, 0o600);
    return Promise.race([failed, this.#answering(id, { link, process, namespace, inode: statSync(namespace).ino })]);
  }

  async #answering(id: string, facts: Omit<Running, 'socket'>): Promise<Running> {
    const deadline = this.#clock.monotonic() + START_MS;
    for (;;) {
      try {
        return await this.#follow(id, facts);
      } catch (error) {
        if (this.#clock.monotonic() > deadline || !processTable.isAlive(facts.process)) throw error;
        // No file system tells when a socket begins to listen.
        await sleep(this.#clock, POLL_MS);
      }
    }
  }

  async #follow(id: string, facts: Omit<Running, 'socket'>): Promise<Running> {
    this.#running.get(id)?.socket.close();
    const socket = await UapiSocket.open(join(SOCKET_FOLDER, `${facts.link}.sock`), () => {
      this.#running.delete(id);
      this.#tell(id);
    });
    const running = { ...facts, socket };
    this.#running.set(id, running);
    return running;
  }

  /** Its link is up, and clients are behind it. Nobody else's addresses are. */
  async #route({ link, namespace, peers }: WantedGateway): Promise<void> {
    const wanted = new Set(peers.flatMap(({ addresses }) => addresses));
    const inRouter = (args: string[], input = ''): Promise<string> =>
      runCommand('nsenter', [`--net=${namespace}`, 'ip', ...args], { input });
    const shown = JSON.parse((await inRouter(['-j', '-4', 'route', 'show', 'dev', link])) || '[]') as { dst: string }[];
    const present = new Set(shown.map(({ dst }) => (dst.includes('/') ? dst : `${dst}/32`)));
    const commands = [
      `link set ${link} mtu ${MTU} up`,
      ...[...present].filter((cidr) => !wanted.has(cidr)).map((cidr) => `route delete ${cidr} dev ${link}`),
      ...[...wanted].map((cidr) => `route replace ${cidr} dev ${link}`),
    ];
    await inRouter(['-batch', '-'], `${commands.join('\n')}\n`);
  }

  async #end(id: string): Promise<void> {
    const running = this.#running.get(id);
    running?.socket.close();
    this.#running.delete(id);
    const recorded = running ?? (await this.#recorded(id));
    if (recorded === undefined) return;
    await endProcess(recorded.process);
    await rm(join(SOCKET_FOLDER, `${recorded.link}.sock`), { force: true });
    await rm(this.#file(id, 'json'), { force: true });
  }

  async #recorded(id: string): Promise<Recorded | undefined> {
    const text = await readIfPresent(this.#file(id, 'json'));
    return text === undefined ? undefined : (JSON.parse(text) as Recorded);
  }

  #lookLater(): Timer {
    return this.#clock.setTimer(LOOK_MS, () => {
      for (const [id, { namespace, inode }] of this.#running) {
        if (statSync(namespace, { throwIfNoEntry: false })?.ino !== inode) this.#tell(id);
      }
      this.#timer = this.#running.size === 0 ? undefined : this.#lookLater();
    });
  }

  #tell(id: string): void {
    for (const listener of this.#listeners) listener(id);
  }

  #file(id: string, suffix: string): string {
    return join(this.#folder, `${id}.${suffix}`);
  }

  #inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const done = (this.#turns.get(id) ?? Promise.resolve()).then(work);
    const settled = done.catch(() => {});
    this.#turns.set(id, settled);
    void settled.then(() => {
      if (this.#turns.get(id) === settled) this.#turns.delete(id);
    });
    return done;
  }
}

function inodeOf(pid: number): number | undefined {
  return statSync(`/proc/${pid}/ns/net`, { throwIfNoEntry: false })?.ino;
}
