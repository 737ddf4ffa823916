import type { Server, Socket } from 'node:net';
import type { Log } from '../../../../lib/log.ts';
import { connectTcp, listenTcp, type Endpoint } from '../kernel/sockets.ts';
import { splice } from '../kernel/splice.ts';

/** Gives Pods the API server, which listens where they do not reach it: passes on bytes, TLS is between the two. */
export class ApiForwarder {
  #target: Endpoint;
  #log: Log;
  #server: Server | undefined;
  #clients = new Set<Socket>();

  constructor(target: Endpoint, log: Log) {
    this.#target = target;
    this.#log = log;
  }

  async start(place: string | undefined, endpoint: Endpoint): Promise<void> {
    this.#server = await listenTcp(place, endpoint, (client) => void this.#serve(client));
    this.#server.on('error', (error) => this.#log.warn('the way of Pods to the API server failed', { error }));
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
