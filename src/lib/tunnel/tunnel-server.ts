import type { ServerHttp2Stream } from 'node:http2';
import { Duplex } from 'node:stream';
import type { Clock } from '../clock.ts';
import { newUid } from '../ids.ts';
import { GRPC, PacketStream } from './packet-stream.ts';
import type { Packet } from './packets.ts';

const DIAL_MS = 15_000;
/** Larger pieces would make others wait. */
const PIECE_BYTES = 64 * 1024;
/** What one connection may have unread before all of its tunnel waits for it. */
const UNREAD_BYTES = 4 * 1024 * 1024;
/** Tells our own agents that they may ask whether we live as often as they like. */
export const OURS_HEADER = 'tenantry-tunnel';

/** The end of tunnels that connections begin at: agents call, and are reached by the name that they proved to have. */
export class TunnelServer {
  readonly #clock: Clock;
  readonly #id = newUid();
  readonly #agents = new Map<string, Set<ConnectedAgent>>();
  readonly #listeners = new Set<(name: string) => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** An agent has called. Who it is was found out before. */
  accept(stream: ServerHttp2Stream, name: string): void {
    stream.respond({ ':status': 200, 'content-type': GRPC, serverid: this.#id, servercount: '1', [OURS_HEADER]: '1' });
    const agent = new ConnectedAgent(stream, name, this.#clock, () => {
      const agents = this.#agents.get(name);
      agents?.delete(agent);
      if (agents?.size === 0) this.#agents.delete(name);
      this.#tell(name);
    });
    const agents = this.#agents.get(name) ?? new Set();
    agents.add(agent);
    this.#agents.set(name, agents);
    this.#tell(name);
  }

  has(name: string): boolean {
    return this.#agents.has(name);
  }

  /** A connection from the agent's side to an address that it reaches. @throws Error when it cannot be had */
  async dial(name: string, address: string): Promise<Duplex> {
    // The one that called last: an older one may be of a machine that is gone.
    const agent = [...(this.#agents.get(name) ?? [])].at(-1);
    if (agent === undefined) throw new Error('No agent available');
    return agent.dial(address);
  }

  onChange(listener: (name: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    for (const agents of this.#agents.values()) for (const agent of agents) agent.close();
  }

  #tell(name: string): void {
    for (const listener of this.#listeners) listener(name);
  }
}

class ConnectedAgent {
  readonly #packets: PacketStream;
  readonly #clock: Clock;
  readonly #dialling = new Map<bigint, { resolve(connection: Duplex): void; reject(error: Error): void }>();
  readonly #connections = new Map<bigint, TunnelConnection>();
  #nextDial = 1n;

  constructor(stream: ServerHttp2Stream, name: string, clock: Clock, gone: () => void) {
    this.#clock = clock;
    this.#packets = new PacketStream(stream, {
      packet: (packet) => this.#receive(packet),
      end: () => {
        const error = new Error(`the tunnel of node "${name}" was closed`);
        for (const { reject } of this.#dialling.values()) reject(error);
        for (const connection of this.#connections.values()) connection.cut(error);
        gone();
      },
    });
  }

  dial(address: string): Promise<Duplex> {
    const random = this.#nextDial++;
    return new Promise<Duplex>((resolve, reject) => {
      const timer = this.#clock.setTimer(DIAL_MS, () => {
        this.#packets.send({ type: 'DIAL_CLS', random });
        settle(() => reject(Object.assign(new Error('dial timeout'), { code: 'ETIMEDOUT' })));
      });
      const settle = (how: () => void) => {
        timer.cancel();
        this.#dialling.delete(random);
        how();
      };
      this.#dialling.set(random, {
        resolve: (connection) => settle(() => resolve(connection)),
        reject: (error) => settle(() => reject(error)),
      });
      this.#packets.send({ type: 'DIAL_REQ', protocol: 'tcp', address, random });
    });
  }

  close(): void {
    this.#packets.close();
  }

  #receive(packet: Packet): void {
    switch (packet.type) {
      case 'DIAL_RSP':
        return this.#answered(packet);
      case 'DATA':
        return this.#connections.get(packet.connectId)?.receive(packet.data);
      case 'CLOSE_RSP': {
        const connection = this.#connections.get(packet.connectId);
        this.#connections.delete(packet.connectId);
        return connection?.ended(packet.error);
      }
      case 'DIAL_REQ':
      case 'DIAL_CLS':
      case 'CLOSE_REQ':
      case 'DRAIN':
    }
  }

  #answered({ random, connectId, error }: Extract<Packet, { type: 'DIAL_RSP' }>): void {
    const dial = this.#dialling.get(random);
    if (error !== '') return dial?.reject(new Error(error));
    // Nobody waits for it any more.
    if (dial === undefined) return this.#packets.send({ type: 'CLOSE_REQ', connectId });
    const connection = new TunnelConnection(this.#packets, connectId, () => this.#connections.delete(connectId));
    this.#connections.set(connectId, connection);
    dial.resolve(connection);
  }
}

/** One connection inside a tunnel. It cannot be half closed: the protocol has no word for it. */
class TunnelConnection extends Duplex {
  readonly #packets: PacketStream;
  readonly #id: bigint;
  readonly #forget: () => void;
  #isClosed = false;

  constructor(packets: PacketStream, id: bigint, forget: () => void) {
    super({ allowHalfOpen: false });
    this.#packets = packets;
    this.#id = id;
    this.#forget = forget;
    // Whoever uses it hears of it by its end too.
    this.on('error', () => {});
  }

  receive(data: Uint8Array): void {
    if (this.destroyed) return;
    this.push(data);
    if (this.readableLength > UNREAD_BYTES) this.#packets.hold(this);
  }

  ended(error: string): void {
    this.#isClosed = true;
    if (error === '') this.push(null);
    else this.destroy(new Error(error));
  }

  cut(error: Error): void {
    this.#isClosed = true;
    this.destroy(error);
  }

  override _read(): void {
    this.#packets.release(this);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) pieces.push(chunk.subarray(at, at + PIECE_BYTES));
    pieces.forEach((data, index) => {
      const sent = index === pieces.length - 1 ? () => done() : undefined;
      this.#packets.send({ type: 'DATA', connectId: this.#id, error: '', data }, sent);
    });
    if (pieces.length === 0) done();
  }

  override _final(done: () => void): void {
    this.#hangUp();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#hangUp();
    this.#packets.release(this);
    this.#forget();
    done(error);
  }

  #hangUp(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#packets.send({ type: 'CLOSE_REQ', connectId: this.#id });
  }
}
