import type { Socket } from 'node:dgram';
import type { Timer } from '../../../../lib/clock.ts';
import { bindUdp } from '../kernel/sockets.ts';
import { EndpointChoice } from './endpoint-choice.ts';
import type { ServicePort } from './model/service-endpoints.ts';
import type { NodePortListener, NodePortOptions } from './node-port-proxy.ts';

const IDLE_MS = 60_000;
const MAX_SESSIONS = 1024;

interface Session {
  socket: Promise<Socket>;
  target: { address: string; port: number };
  timer: Timer;
}

/** One socket per client, so that answers find back. */
export class NodePortUdp implements NodePortListener {
  port: ServicePort;
  #options: NodePortOptions;
  #choice: EndpointChoice;
  #server: Socket | undefined;
  #closed = false;
  #sessions = new Map<string, Session>();

  constructor(port: ServicePort, options: NodePortOptions) {
    this.port = port;
    this.#options = options;
    this.#choice = new EndpointChoice(options.clock, options.random ?? Math.random);
  }

  async open(): Promise<void> {
    const { machine, address } = this.#options.place;
    const server = await bindUdp(machine, { address, port: this.port.nodePort! });
    if (this.#closed) {
      server.close();
      return;
    }
    this.#server = server;
    server.on('error', (error) => this.#options.log.warn('a node port failed', { service: this.port.id, error }));
    server.on('message', (packet, from) => void this.#pass(packet, from));
  }

  close(): void {
    this.#closed = true;
    this.#server?.close();
    this.#server = undefined;
    for (const key of this.#sessions.keys()) this.#end(key);
  }

  async #pass(packet: Buffer, client: { address: string; port: number }): Promise<void> {
    const key = `${client.address}:${client.port}`;
    const session = this.#sessions.get(key) ?? this.#begin(key, client);
    if (!session) return;
    session.timer.cancel();
    session.timer = this.#options.clock.setTimer(IDLE_MS, () => this.#end(key));
    // An endpoint that is gone is not spoken to any more: the next packet finds another.
    if (!this.port.endpoints.some(({ address, port }) => address === session.target.address && port === session.target.port)) {
      this.#end(key);
      return this.#pass(packet, client);
    }
    try {
      const socket = await session.socket;
      socket.send(packet, session.target.port, session.target.address, () => {});
    } catch (error) {
      this.#options.log.debug('cannot pass on a packet', { service: this.port.id, error });
      this.#end(key);
    }
  }

  #begin(key: string, client: { address: string; port: number }): Session | undefined {
    const [target] = this.#choice.order(this.port, client.address);
    if (!target) return undefined;
    this.#choice.remember(this.port, client.address, target);
    if (this.#sessions.size >= MAX_SESSIONS) this.#end(this.#sessions.keys().next().value!);
    const { machine, source } = this.#options.place;
    const socket = bindUdp(machine, { address: source ?? '0.0.0.0', port: 0 }).then((bound) => {
      bound.on('error', () => this.#end(key));
      bound.on('message', (answer, from) => {
        if (from.address === target.address && from.port === target.port) this.#server?.send(answer, client.port, client.address, () => {});
      });
      return bound;
    });
    const session = { socket, target, timer: this.#options.clock.setTimer(IDLE_MS, () => this.#end(key)) };
    this.#sessions.set(key, session);
    return session;
  }

  #end(key: string): void {
    const session = this.#sessions.get(key);
    if (!session) return;
    this.#sessions.delete(key);
    session.timer.cancel();
    session.socket.then((socket) => socket.close()).catch(() => {});
  }
}
