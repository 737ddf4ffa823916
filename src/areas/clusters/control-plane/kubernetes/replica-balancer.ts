import { connect, createServer, type Server, type Socket } from 'node:net';
import { inOrder, type Backend } from './model/balance.ts';

const CONNECT_MS = 3000;

interface Held extends Backend {
  sockets: Set<Socket>;
}

/** The endpoint that several API servers share: each connection is one's of those that are ready. */
export class ReplicaBalancer {
  readonly #port: number;
  readonly #backends: Held[];
  readonly #servers: Server[] = [];

  constructor(port: number, addresses: readonly string[]) {
    this.#port = port;
    this.#backends = addresses.map((address) => ({ address, ready: false, connections: 0, sockets: new Set() }));
  }

  async listen(addresses: readonly string[]): Promise<void> {
    for (const address of addresses) {
      const server = createServer({ noDelay: true, pauseOnConnect: true }, (client) => this.#serve(client));
      this.#servers.push(server);
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(this.#port, address, resolve);
      });
    }
  }

  /** Connections go elsewhere from now on, or here too. */
  setReady(replica: number, ready: boolean): void {
    this.#backends[replica].ready = ready;
  }

  /** Of one that says nothing any more: its clients find another. */
  cut(replica: number): void {
    for (const socket of this.#backends[replica].sockets) socket.destroy();
  }

  close(): void {
    for (const server of this.#servers) server.close();
    for (const { sockets } of this.#backends) for (const socket of sockets) socket.destroy();
  }

  #serve(client: Socket): void {
    client.on('error', () => {});
    const tryNext = ([backend, ...others]: Held[]): void => {
      if (client.destroyed) return;
      if (backend === undefined) return void client.destroy();
      this.#join(client, backend, () => tryNext(others));
    };
    tryNext(inOrder(this.#backends) as Held[]);
  }

  /** Nothing has been read of the client until the other side is there: so another can be tried. */
  #join(client: Socket, backend: Held, refused: () => void): void {
    const server = connect({ host: backend.address, port: this.#port, noDelay: true });
    backend.connections++;
    backend.sockets.add(server);
    let isOpen = false;
    const giveUp = () => server.destroy();
    client.once('close', giveUp);
    server.setTimeout(CONNECT_MS, giveUp);
    server.on('error', () => {});
    server.once('connect', () => {
      isOpen = true;
      server.setTimeout(0);
      client.pipe(server).pipe(client);
      client.resume();
    });
    server.once('close', () => {
      backend.connections--;
      backend.sockets.delete(server);
      client.off('close', giveUp);
      if (isOpen) client.destroy();
      else refused();
    });
  }
}
