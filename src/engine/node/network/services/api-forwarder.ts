import type { Server, Socket } from 'node:net';
import type { Log } from '../../../../lib/log.ts';
import { connectTcp, listenTcp, type Endpoint } from '../kernel/sockets.ts';
import { splice } from '../kernel/splice.ts';

/**
 * Gives Pods the API server, which listens where they do not reach it. Where it can be given the socket at which they ask, it answers them itself;
 * else bytes are passed on, TLS is between the two.
 */
export class ApiForwarder {
  #target: Endpoint;
  #log: Log;
  #server: Server | undefined;
  #clients = new Set<Socket>();

  constructor(target: Endpoint, log: Log) {
    this.#target = target;
    this.#log = log;
  }

  async start(place: string | undefined, endpoint: Endpoint, handOver?: (entrance: Server) => Promise<void>): Promise<void> {
    const server = await listenTcp(place, endpoint, (client) => void this.#serve(client));
    server.on('error', (error) => this.#log.warn('the way of Pods to the API server failed', { error }));
    this.#server = server;
    if (handOver === undefined) return;
    try {
      await handOver(server);
      server.close();
    } catch (error) {
      this.#log.warn('cannot give the API server the socket at which Pods ask for it; what they say is passed on', { error });
    }
  }

  stop(): void {
    this.#server?.close();
    for (const client of this.#clients) client.destroy();
  }

  async #serve(client: Socket): Promise<void> {
    this.#clients.add(client);
    client.on('close', () => this.#clients.delete(client));
    client.on('error', () => client.destroy());
    try {
      const target = await connectTcp(undefined, this.#target, { allowHalfOpen: true });
      target.on('error', () => client.destroy());
      if (client.destroyed) target.destroy();
      else splice(client, target);
    } catch (error) {
      this.#log.debug('the API server does not answer a Pod', { error });
      client.resetAndDestroy();
    }
  }
}
