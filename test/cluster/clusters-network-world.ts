import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Socket as UdpSocket } from 'node:dgram';
import type { Server, Socket } from 'node:net';
import { promisify } from 'node:util';
import { macOf, uplinkOf } from '../../src/areas/clusters/network/model/address-plan.ts';
import { platformOf, type NetworkPlan, type Port, type Vpc } from '../../src/areas/clusters/network/model/vpc.ts';
import { bindUdp, connectTcp, listenTcp } from '../../src/engine/node/network/kernel/sockets.ts';
import { nodeTools, toolPath } from './node-tools.ts';

const run = promisify(execFile);

/** A server of the platform that has nothing to do with tenants, an address of the machine that the world knows, and somebody in the world. */
export const PLATFORM_API = { address: '172.30.0.5', port: 6443 };
export const MACHINE = { address: '203.0.113.1', port: 2222 };
export const INTERNET = { address: '203.0.113.9', port: 80 };

/** Long enough for a packet on a busy machine, short enough to wait for one that must not come. */
const SILENCE_MS = 600;

/** Namespaces that play a machine, the world behind it, and workers: nothing of the real machine's network is touched. */
export class NetworkWorld {
  readonly name = `ttn-${randomBytes(3).toString('hex')}`;
  /** Tells the providers of this world from those of others. */
  readonly instance = this.name.slice(4);
  readonly platform = platformOf();
  readonly #closers: (() => void)[] = [];
  readonly #namespaces: string[] = [];

  static async start(): Promise<NetworkWorld> {
    await nodeTools('ip', 'nft', 'busybox');
    const world = new NetworkWorld();
    const [machine, internet] = [world.namespace(''), world.namespace('-world')];
    batch(machine, [
      'link set lo up',
      `address add ${PLATFORM_API.address}/32 dev lo`,
      `link add out type veth peer name eth0 netns ${internet}`,
      `address add ${MACHINE.address}/24 dev out`,
      'link set out up',
    ]);
    batch(internet, ['link set lo up', `address add ${INTERNET.address}/24 dev eth0`, 'link set eth0 up']);
    await world.listen(world.machine, PLATFORM_API.port, 'platform', PLATFORM_API.address);
    await world.listen(world.machine, MACHINE.port, 'machine');
    await world.listen(path(internet), INTERNET.port, 'world');
    return world;
  }

  get machine(): string {
    return path(this.name);
  }

  get world(): string {
    return path(`${this.name}-world`);
  }

  /** A namespace that plays a worker, which answers with its name. */
  async worker(vpc: string, name: string, subnet: string, address: string): Promise<Port> {
    const place = path(this.namespace(`-${name}`));
    await this.listen(place, 8080, name);
    return { name, subnet, address, mac: macOf(vpc, address), attachment: { kind: 'Namespace', path: place } };
  }

  vpc(name: string, index: number, changes: Partial<Vpc> = {}): Vpc {
    const { platform: address } = uplinkOf(this.platform, index);
    return {
      name,
      index,
      mode: 'Overlay',
      subnets: [],
      ports: [],
      endpoints: [{ address, protocol: 'tcp', port: 6443 }],
      services: [],
      routes: [],
      peers: [],
      egress: true,
      ...changes,
    };
  }

  plan(...vpcs: Vpc[]): NetworkPlan {
    return { platform: this.platform, vpcs };
  }

  /** Answers every connection with a word. */
  async listen(place: string, port: number, word: string, address = '0.0.0.0', serve?: (socket: Socket) => void): Promise<Server> {
    const server = await listenTcp(place, { address, port }, (socket) => {
      socket.on('error', () => {});
      if (serve) serve(socket);
      else socket.end(word);
    });
    this.#closers.push(() => server.close());
    return server;
  }

  /** What the other side said; `no answer`, or what came instead. */
  async ask(place: string, address: string, port: number, timeoutMs = SILENCE_MS): Promise<string> {
    let socket: Socket;
    try {
      socket = await connectTcp(place, { address, port }, { timeoutMs });
    } catch (error) {
      const { message, code } = error as Error & { code?: string };
      return message.includes('no answer in time') ? 'no answer' : (code ?? message);
    }
    return new Promise((resolve) => {
      let text = '';
      const timer = setTimeout(() => socket.destroy(), timeoutMs);
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('error', () => {});
      socket.on('close', () => {
        clearTimeout(timer);
        resolve(text || 'no answer');
      });
    });
  }

  /** Asks until the answer is this one: what is being set up may need a moment. */
  async eventually(answer: string, ask: () => Promise<string>, timeoutMs = 20_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const said = await ask();
      if (said === answer) return;
      if (performance.now() > deadline) throw new Error(`it says ${said} and not ${answer}`);
    }
  }

  async ping(place: string, address: string): Promise<boolean> {
    try {
      await run('nsenter', [`--net=${place}`, toolPath('busybox'), 'ping', '-c', '1', '-W', '1', address]);
      return true;
    } catch {
      return false;
    }
  }

  /** The packets that arrive at a port, as they come. */
  async receive(place: string, port: number): Promise<string[]> {
    const packets: string[] = [];
    const socket = await bindUdp(place, { address: '0.0.0.0', port });
    socket.on('message', (message) => packets.push(message.toString()));
    this.#closers.push(() => close(socket));
    return packets;
  }

  async send(place: string, from: string, to: string, port: number, text: string): Promise<void> {
    const socket = await bindUdp(place, { address: from, port: 0 });
    await new Promise<void>((resolve) => socket.send(text, port, to, () => resolve()));
    close(socket);
  }

  async until(condition: () => boolean | Promise<boolean>, timeoutMs = 20_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!(await condition())) {
      if (performance.now() > deadline) throw new Error('it did not happen in time');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  close(): void {
    for (const closer of this.#closers) closer();
    for (const namespace of this.#namespaces.toReversed()) execFileSync('ip', ['netns', 'del', namespace]);
  }

  /** Another namespace that goes when this world does. */
  namespace(suffix: string): string {
    const namespace = `${this.name}${suffix}`;
    execFileSync('ip', ['netns', 'add', namespace]);
    this.#namespaces.push(namespace);
    return namespace;
  }
}

export function batch(namespace: string, commands: readonly string[]): void {
  execFileSync('ip', ['-n', namespace, '-batch', '-'], { input: `${commands.join('\n')}\n`, stdio: ['pipe', 'pipe', 'pipe'] });
}

export function path(namespace: string): string {
  return `/run/netns/${namespace}`;
}

export function placeOf({ attachment }: Port): string {
  if (attachment.kind !== 'Namespace') throw new Error('this worker is not a namespace');
  return attachment.path;
}

function close(socket: UdpSocket): void {
  try {
    socket.close();
  } catch {
    // Closed already.
  }
}
