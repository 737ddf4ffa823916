import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { chown, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sleep } from '../../../../lib/abort.ts';
import type { Clock, Timer } from '../../../../lib/clock.ts';
import { readIfPresent, replaceFile } from '../../../../lib/pki/private-file.ts';
import { identityOf, processTable, type ProcessIdentity } from '../../../../lib/process-table.ts';
import { ENVIRONMENT, runCommand } from '../../../../lib/run-command.ts';
import { LEADER } from '../../machines/host/enclosed.ts';
import { endMachine } from '../../machines/host/end-machine.ts';
import { findProgram } from '../../machines/image/system-files.ts';
import { freeUser, GATEWAY_USERS } from '../../machines/model/free-user.ts';
import { enclosedService, missingForServices } from '../enclosure/enclosed-service.ts';
import { gatewayKeys } from './gateway-keys.ts';
import type { Gateways, WantedGateway } from './gateways.ts';
import { hexOf, UAPI_GET, uapiChange } from './model/uapi.ts';
import { UapiSocket } from './uapi-socket.ts';

export const WIREGUARD_PROGRAM = 'wireguard-go';

/** Where every WireGuard in user space has its socket. Each of ours finds a folder of its own there. */
const SOCKET_FOLDER = '/var/run/wireguard';
const TUNNEL_DEVICE = '/dev/net/tun';
const START_MS = 10_000;
const POLL_MS = 20;
/** Nobody tells that a router was made again, in another namespace than the one its gateway is in: one has to look. */
const LOOK_MS = 5000;
/** What is left of a packet of 1500 bytes. */
const MTU = 1420;

interface Running {
  link: string;
  user: number;
  process: ProcessIdentity;
  socket: UapiSocket;
  namespace: string;
  inode: number;
}

/** What is written down of a process before anything depends on it. */
interface Recorded {
  link: string;
  /** Its user; absent: of a time when it was root. */
  user?: number;
  process: ProcessIdentity;
}

/** Gateways as processes of wireguard-go in the routers of tenants, found by their socket and record after a restart of ours. */
export class WireguardGateways implements Gateways {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #running = new Map<string, Running>();
  readonly #turns = new Map<string, Promise<unknown>>();
  /** Of those that were started by us, whether they are written down yet or not. */
  readonly #users = new Map<string, number>();
  readonly #listeners = new Set<(id: string) => void>();
  #timer: Timer | undefined;

  constructor({ folder, clock }: { folder: string; clock: Clock }) {
    this.#folder = folder;
    this.#clock = clock;
  }

  async unable(): Promise<string | undefined> {
    const missing = await missingForServices();
    if (missing !== undefined) return `Cannot run VPN gateways: ${missing}; install it`;
    if ((await findProgram(WIREGUARD_PROGRAM)) !== undefined && existsSync(TUNNEL_DEVICE)) return undefined;
    return `Cannot run VPN gateways: ${WIREGUARD_PROGRAM} is not on the path, or there is no ${TUNNEL_DEVICE}; install it`;
  }

  ensure(wanted: WantedGateway): Promise<{ publicKey: string }> {
    return this.#inTurn(wanted.id, () => this.#ensure(wanted));
  }

  remove(id: string): Promise<void> {
    return this.#inTurn(id, async () => {
      await this.#end(id);
      this.#users.delete(id);
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
    if (
      recorded?.user !== undefined &&
      recorded.link === link &&
      processTable.isAlive(recorded.process) &&
      inodeOf(recorded.process.pid) === inode
    ) {
      const { user, process } = recorded;
      return this.#follow(id, { link, user, process, namespace, inode }).catch(() => undefined);
    }
    await this.#end(id);
    return undefined;
  }

  async #start({ id, link, namespace }: WantedGateway): Promise<Running> {
    const user = await this.#prepare(id);
    const log = await open(this.#file(id, 'log'), 'w', 0o600);
    // It speaks with strangers: what it may is to make its link, and what it sees is itself and its socket.
    const command = await enclosedService({
      user,
      rights: ['net_admin'],
      owns: { [SOCKET_FOLDER]: this.#sockets(id) },
      devices: [TUNNEL_DEVICE],
      command: [(await findProgram(WIREGUARD_PROGRAM))!, '-f', link],
    });
    const child = spawn('/bin/sh', ['-c', LEADER, 'sh', 'nsenter', `--net=${namespace}`, '--', ...command], {
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
    await replaceFile(this.#file(id, 'json'), `${JSON.stringify({ link, user, process } satisfies Recorded)}\n`, 0o600);
    return Promise.race([failed, this.#answering(id, { link, user, process, namespace, inode: statSync(namespace).ino })]);
  }

  /** A user that no other gateway has, and a folder for its socket that is this user's. */
  async #prepare(id: string): Promise<number> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const ids = (await readdir(this.#folder)).flatMap((name) => /^(.+)\.json$/.exec(name)?.[1] ?? []);
    const others = await Promise.all(ids.map((other) => this.#recorded(other)));
    const taken = [...this.#users.values(), ...others.flatMap((recorded) => recorded?.user ?? [])];
    const user = freeUser(this.#folder, taken, GATEWAY_USERS);
    if (user === undefined) throw new Error('Cannot start the VPN gateway: there is no user left for it; remove some gateways');
    this.#users.set(id, user);
    const sockets = this.#sockets(id);
    await rm(sockets, { recursive: true, force: true });
    await mkdir(sockets, { mode: 0o700 });
    await chown(sockets, user, user);
    return user;
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
    const socket = await UapiSocket.open(this.#sockets(id), `${facts.link}.sock`, () => {
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
    await endMachine(recorded.process);
    await rm(this.#sockets(id), { recursive: true, force: true });
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

  #sockets(id: string): string {
    return this.#file(id, 'sockets');
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
