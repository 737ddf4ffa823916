import type { ClientRequest } from 'node:http';
import type { Agent } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import type { NodeEndpoint } from './node-endpoint.ts';

export interface NodeIdentity {
  /** PEM: what we show to nodes, and the authority that signed theirs. */
  certificate: string;
  key: string;
  authority: string;
}

/** Another way to a node than its address; undefined: there is none. */
export type DialNode = (endpoint: NodeEndpoint) => Promise<Duplex> | undefined;

export interface NodeRequest {
  method: string;
  /** With query. */
  path: string;
  headers?: Record<string, string | string[]>;
  signal?: AbortSignal;
  /** Whatever certificate the node shows is taken: a client may ask for that when it reads logs. */
  unverified?: boolean;
}

/** As kube-apiserver has it. What is connected may take its time to answer. */
const CONNECT_MS = 30_000;

/**
 * Connections to the servers of nodes, whose certificates are checked like those of any other server. One per request: most requests
 * stream for long or leave HTTP, and one that is kept may be closed by the node just when it is used again. Resumed sessions make the
 * next one cheap.
 */
export class NodeConnections {
  readonly #identity: () => NodeIdentity;
  readonly #dial: DialNode;
  #agent: Agent | undefined;

  constructor(identity: () => NodeIdentity, dial: DialNode = () => undefined) {
    this.#identity = identity;
    this.#dial = dial;
  }

  /** A request whose body is still to be written. */
  async open(endpoint: NodeEndpoint, { unverified = false, ...request }: NodeRequest): Promise<ClientRequest> {
    const { request: send, Agent: AgentClass } = await import('node:https');
    const { host, port } = endpoint;
    const { certificate, key, authority } = this.#identity();
    const tls: ConnectionOptions = {
      host,
      port,
      ca: authority,
      cert: certificate,
      key,
      minVersion: 'TLSv1.2',
      rejectUnauthorized: !unverified,
    };
    const tunnel = this.#dial(endpoint);
    if (tunnel)
      return send({
        ...request,
        ...tls,
        createConnection: (_, done) =>
          void throughTunnel(tunnel, tls).then(
            (it) => done(null, it),
            (error: Error) => done(error, undefined as never),
          ),
      });
    this.#agent ??= new AgentClass({ keepAlive: false });
    const outgoing = send({ ...request, ...tls, agent: this.#agent });
    outgoing.once('socket', (socket) => limitConnecting(outgoing, socket, { address: host, port }));
    return outgoing;
  }

  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }
}

/** TLS inside of the tunnel: who opened it is not believed to be the node because of that. */
async function throughTunnel(tunnel: Promise<Duplex>, tls: ConnectionOptions): Promise<Duplex> {
  const [{ connect }, socket] = await Promise.all([import('node:tls'), tunnel]);
  const { host = '' } = tls;
  return connect({ ...tls, socket, ...(isIP(host) === 0 && { servername: host }) });
}

function limitConnecting(outgoing: ClientRequest, socket: Socket, to: { address: string; port: number }): void {
  if (!socket.connecting) return;
  const late = Object.assign(new Error('i/o timeout'), { code: 'ETIMEDOUT', ...to });
  const timer = setTimeout(() => outgoing.destroy(late), CONNECT_MS);
  timer.unref();
  socket.once('secureConnect', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
}
