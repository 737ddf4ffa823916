import type { ServerHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../lib/clock.ts';
import { TunnelServer } from '../../../lib/tunnel/tunnel-server.ts';
import { nodeOfUser } from '../auth/node/node-user.ts';
import type { Authenticator, Credentials } from '../auth/user.ts';
import type { NodeEndpoint } from './node-endpoint.ts';

export interface NodeTunnelsOptions {
  authenticator: Authenticator;
  clock: Clock;
  /** Nodes without a tunnel are not reached at all: what a Node says of its address would lead us anywhere. */
  isOnlyWay: boolean;
}

/** The ways to nodes that they opened themselves, each by the certificate of the node. */
export class NodeTunnels {
  readonly #options: NodeTunnelsOptions;
  readonly #server: TunnelServer;

  constructor(options: NodeTunnelsOptions) {
    this.#options = options;
    this.#server = new TunnelServer(options.clock);
  }

  /** A node calls. Nobody else may. */
  async accept(credentials: Credentials, stream: ServerHttp2Stream): Promise<void> {
    stream.on('error', () => {});
    const user = await Promise.resolve()
      .then(() => this.#options.authenticator.authenticate(credentials))
      .catch(() => undefined);
    if (stream.destroyed) return;
    const node = user && nodeOfUser(user);
    if (node) this.#server.accept(stream, node);
    else stream.respond({ ':status': 403, 'content-type': 'text/plain' }, { endStream: true });
  }

  /** Undefined: it is reached by its address. @throws Error when it cannot be reached */
  dial({ node, host, port }: NodeEndpoint): Promise<Duplex> | undefined {
    if (!this.#options.isOnlyWay && !this.#server.has(node)) return undefined;
    return this.#server.dial(node, `${host.includes(':') ? `[${host}]` : host}:${port}`);
  }

  close(): void {
    this.#server.close();
  }
}
