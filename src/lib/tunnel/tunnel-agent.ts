import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { connect as dial, isIPv6, type Socket } from 'node:net';
import { Backoff, type Random } from '../backoff.ts';
import type { Clock, Timer } from '../clock.ts';
import { errorText, type Log } from '../log.ts';
import { CONNECT_PATH, GRPC, PacketStream } from './packet-stream.ts';
import type { Packet } from './packets.ts';
import { OURS_HEADER } from './tunnel-server.ts';

export interface TunnelAgentOptions {
  server: { address: string; port: number };
  /** Asked for every connection. PEM. */
  tls(): Promise<{ ca: string; cert: string; key: string }>;
  /** The node it is for, and how servers that do not look at its certificate find it. */
  name: string;
  addresses: readonly string[];
  /** Where `host:port` is to be reached; undefined: not through here. */
  reach(address: string): { host: string; port: number } | undefined;
  clock: Clock;
  random: Random;
  log: Log;
}

const RECONNECT = { initialMs: 200, maxMs: 10_000, jitter: 0.3 };
const DIAL_MS = 5000;
const UNWRITTEN_BYTES = 4 * 1024 * 1024;
/** gRPC servers hang up on who asks more often than every five minutes. */
const PING_MS = 6 * 60_000;
const OWN_PING_MS = 20_000;
const PONG_MS = 15_000;

/**
 * The end of a tunnel on a worker: it calls the control plane, so that nobody has to reach the worker, and makes the connections that are asked for
 * there. Reconnects for as long as it lives.
 */
export class TunnelAgent {
  readonly #options: TunnelAgentOptions;
  readonly #backoff: Backoff;
  #session: ClientHttp2Session | undefined;
  #again: Timer | undefined;
  #isStopped = false;

  constructor(options: TunnelAgentOptions) {
    this.#options = options;
    this.#backoff = new Backoff({ ...RECONNECT, random: options.random });
  }

  start(): void {
    void this.#connect();
  }

  stop(): void {
    this.#isStopped = true;
    this.#again?.cancel();
    this.#session?.destroy();
  }

  async #connect(): Promise<void> {
    try {
      await this.#callOnce();
    } catch (error) {
      if (!this.#isStopped)
        this.#options.log.info('the tunnel to the control plane ended, will be made again', { error: errorText(error) });
    }
    if (this.#isStopped) return;
    this.#again = this.#options.clock.setTimer(this.#backoff.next(), () => void this.#connect());
    // It is all that some machines are there for.
    this.#again.hold?.();
  }

  /** One connection, until it ends. */
  async #callOnce(): Promise<void> {
    const { server, name, addresses } = this.#options;
    const tls = await this.#options.tls();
    if (this.#isStopped) return;
    const host = isIPv6(server.address) ? `[${server.address}]` : server.address;
    const session = connect(`https://${host}:${server.port}`, {
      ...tls,
      minVersion: 'TLSv1.2',
      settings: { initialWindowSize: 1024 * 1024 },
    });
    this.#session = session;
    try {
      await new Promise<void>((resolve, reject) => {
        session.once('error', reject);
        session.once('close', resolve);
        session.once('connect', () => {
          const stream = session.request({
            ':method': 'POST',
            ':path': CONNECT_PATH,
            'content-type': GRPC,
            te: 'trailers',
            agentid: name,
            agentidentifiers: identifiersOf(name, addresses),
          });
          stream.once('response', (headers) => {
            if (headers[':status'] !== 200 || (headers['grpc-status'] ?? '0') !== '0') {
              const said = headers['grpc-message'] ?? headers[':status'];
              return reject(new Error(`the control plane refused the tunnel: ${String(said)}`));
            }
            this.#backoff.reset();
            this.#ping(session, headers[OURS_HEADER] === undefined ? PING_MS : OWN_PING_MS);
          });
          this.#serve(stream, (why) => (why ? reject(why) : resolve()));
        });
      });
    } finally {
      session.destroy();
    }
  }

  /** A machine that is gone sends no word. */
  #ping(session: ClientHttp2Session, everyMs: number): void {
    const { clock } = this.#options;
    const ask = (): void => {
      if (session.destroyed) return;
      const late = clock.setTimer(PONG_MS, () => session.destroy(new Error('the control plane does not answer')));
      session.ping((error) => {
        late.cancel();
        if (!error) clock.setTimer(everyMs, ask);
      });
    };
    clock.setTimer(everyMs, ask);
  }

  #serve(stream: ClientHttp2Stream, ended: (why: Error | undefined) => void): void {
    const connections = new Map<bigint, Socket>();
    let next = 1n;
    const packets = new PacketStream(stream, {
      packet: (packet) => receive(packet),
      end: (why) => {
        for (const socket of connections.values()) socket.destroy();
        ended(why);
      },
    });
    const receive = (packet: Packet): void => {
      switch (packet.type) {
        case 'DIAL_REQ':
          return this.#dial(packets, packet, connections, next++);
        case 'DATA':
          return forward(packets, packet, connections.get(packet.connectId));
        case 'CLOSE_REQ': {
          const socket = connections.get(packet.connectId);
          if (socket === undefined) packets.send({ type: 'CLOSE_RSP', connectId: packet.connectId, error: 'Unknown connectID' });
          // What was sent before still arrives.
          else socket.destroySoon();
          return;
        }
        case 'DIAL_RSP':
        case 'CLOSE_RSP':
        case 'DIAL_CLS':
        case 'DRAIN':
      }
    };
  }

  #dial(
    packets: PacketStream,
    { address, protocol, random }: Extract<Packet, { type: 'DIAL_REQ' }>,
    connections: Map<bigint, Socket>,
    connectId: bigint,
  ): void {
    const target = protocol === 'tcp' ? this.#options.reach(address) : undefined;
    if (target === undefined) {
      packets.send({ type: 'DIAL_RSP', random, connectId: 0n, error: `dial ${protocol} ${address}: this node reaches only itself` });
      return;
    }
    const socket = dial(target);
    socket.setNoDelay(true);
    const late = this.#options.clock.setTimer(DIAL_MS, () => socket.destroy(new Error('i/o timeout')));
    let isConnected = false;
    socket.once('connect', () => {
      late.cancel();
      isConnected = true;
      connections.set(connectId, socket);
      packets.send({ type: 'DIAL_RSP', random, connectId, error: '' });
    });
    socket.on('data', (data: Buffer) => {
      socket.pause();
      packets.send({ type: 'DATA', connectId, error: '', data }, () => socket.resume());
    });
    socket.on('error', (error) => {
      late.cancel();
      if (!isConnected) packets.send({ type: 'DIAL_RSP', random, connectId: 0n, error: `dial tcp ${address}: ${errorText(error)}` });
    });
    socket.once('close', () => {
      packets.release(socket);
      if (connections.delete(connectId)) packets.send({ type: 'CLOSE_RSP', connectId, error: '' });
    });
  }
}

function forward(packets: PacketStream, { connectId, data }: Extract<Packet, { type: 'DATA' }>, socket: Socket | undefined): void {
  if (socket === undefined) return packets.send({ type: 'CLOSE_RSP', connectId, error: 'unrecognized connectID' });
  socket.write(data);
  if (socket.writableLength <= UNWRITTEN_BYTES) return;
  packets.hold(socket);
  socket.once('drain', () => packets.release(socket));
}

/** As konnectivity-server finds an agent for an address. */
function identifiersOf(name: string, addresses: readonly string[]): string {
  return [...addresses.map((address) => `${isIPv6(address) ? 'ipv6' : 'ipv4'}=${address}`), `host=${name}`].join('&');
}
