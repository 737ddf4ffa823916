import type { Socket as UdpSocket } from 'node:dgram';
import type { Server, Socket } from 'node:net';
import type { Log } from '../../../../lib/log.ts';
import { bindUdp, listenTcp, type Endpoint } from '../kernel/sockets.ts';
import { answerQuery, type DnsServices } from './answer-query.ts';
import { frameTcp, TcpFrames } from './tcp-frames.ts';

const TCP_IDLE_MS = 10_000;
/** Connections that are open at a time; more wait in the kernel's queue. */
const MAX_CONNECTIONS = 256;

/** Cluster DNS on one address, inside the namespace that Pods reach it in. */
export class DnsServer {
  #services: DnsServices;
  #log: Log;
  #udp: UdpSocket | undefined;
  #tcp: Server | undefined;
  #connections = new Set<Socket>();

  constructor(services: DnsServices, log: Log) {
    this.#services = services;
    this.#log = log;
  }

  async start(place: string | undefined, endpoint: Endpoint): Promise<void> {
    this.#udp = await bindUdp(place, endpoint);
    this.#udp.on('error', (error) => this.#log.warn('DNS over UDP failed', { error }));
    this.#udp.on('message', (packet, from) => {
      void this.#answer(packet, 'udp').then((answer) => {
        if (answer) this.#udp?.send(answer, from.port, from.address, () => {});
      });
    });
    this.#tcp = await listenTcp(place, endpoint, (socket) => this.#serve(socket));
    this.#tcp.maxConnections = MAX_CONNECTIONS;
    this.#tcp.on('error', (error) => this.#log.warn('DNS over TCP failed', { error }));
  }

  stop(): void {
    this.#udp?.close();
    this.#udp = undefined;
    this.#tcp?.close();
    this.#tcp = undefined;
    for (const socket of this.#connections) socket.destroy();
  }

  #serve(socket: Socket): void {
    this.#connections.add(socket);
    socket.on('close', () => this.#connections.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.setTimeout(TCP_IDLE_MS, () => socket.destroy());
    socket.on('end', () => socket.end());
    const frames = new TcpFrames((packet) => {
      void this.#answer(packet, 'tcp').then((answer) => {
        if (answer && !socket.destroyed) socket.write(frameTcp(answer));
      });
    });
    socket.on('data', (chunk) => frames.push(chunk));
  }

  async #answer(packet: Buffer, transport: 'udp' | 'tcp'): Promise<Buffer | undefined> {
    try {
      return await answerQuery(packet, transport, this.#services);
    } catch (error) {
      this.#log.warn('cannot answer a DNS question', { error });
      return undefined;
    }
  }
}
