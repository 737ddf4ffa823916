import type { Server, Socket } from 'node:net';
import { connectTcp, listenTcp } from '../kernel/sockets.ts';
import { splice } from '../kernel/splice.ts';
import { EndpointChoice } from './endpoint-choice.ts';
import type { ServicePort } from './model/service-endpoints.ts';
import type { NodePortListener, NodePortOptions } from './node-port-proxy.ts';

const CONNECT_MS = 5000;

export class NodePortTcp implements NodePortListener {
  port: ServicePort;
  #options: NodePortOptions;
  #choice: EndpointChoice;
  #server: Server | undefined;
  #closed = false;
  #clients = new Set<Socket>();

  constructor(port: ServicePort, options: NodePortOptions) {
    this.port = port;
    this.#options = options;
    this.#choice = new EndpointChoice(options.clock, options.random ?? Math.random);
  }

  async open(): Promise<void> {
    const { machine, address } = this.#options.place;
    const server = await listenTcp(machine, { address, port: this.port.nodePort! }, (client) => void this.#serve(client));
    if (this.#closed) server.close();
    else this.#server = server;
    server.on('error', (error) => this.#options.log.warn('a node port failed', { service: this.port.id, error }));
  }

  close(): void {
    this.#closed = true;
    this.#server?.close();
    for (const client of this.#clients) client.destroy();
  }

  async #serve(client: Socket): Promise<void> {
    this.#clients.add(client);
    client.on('close', () => this.#clients.delete(client));
    client.on('error', () => client.destroy());
    const { machine, source } = this.#options.place;
    const from = client.remoteAddress ?? '';
    for (const endpoint of this.#choice.order(this.port, from)) {
      try {
        const target = await connectTcp(machine, endpoint, { localAddress: source, timeoutMs: CONNECT_MS, allowHalfOpen: true });
        this.#choice.remember(this.port, from, endpoint);
        target.on('error', () => client.destroy());
        if (client.destroyed) target.destroy();
        else splice(client, target);
        return;
      } catch (error) {
        this.#options.log.debug('an endpoint of a node port does not answer', { service: this.port.id, endpoint, error });
      }
    }
    client.resetAndDestroy();
  }
}
