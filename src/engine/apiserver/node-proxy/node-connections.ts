import type { ClientRequest } from 'node:http';
import type { Agent, RequestOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { NodeEndpoint } from './node-endpoint.ts';

export interface NodeIdentity {
  /** PEM: what we show to nodes, and the authority that signed theirs. */
  certificate: string;
  key: string;
  authority: string;
}

export interface NodeRequest {
  method: string;
  /** With query. */
  path: string;
  headers?: Record<string, string | string[]>;
  signal?: AbortSignal;
}

export interface NodeRequestOptions {
  /** A connection of its own, for requests that leave HTTP. */
  leavesHttp?: boolean;
  /** Whatever certificate the node shows is taken: a client may ask for that when it reads logs. */
  unverified?: boolean;
}

const IDLE_MS = 60_000;
/** As kube-apiserver has it. What is connected may take its time to answer. */
const CONNECT_MS = 30_000;

/** Connections to the servers of nodes, whose certificates are checked like those of any other server. */
export class NodeConnections {
  readonly #identity: () => NodeIdentity;
  #shared: { identity: NodeIdentity; agent: Agent } | undefined;

  constructor(identity: () => NodeIdentity) {
    this.#identity = identity;
  }

  /** A request whose body is still to be written. */
  async open({ host, port }: NodeEndpoint, request: NodeRequest, how: NodeRequestOptions = {}): Promise<ClientRequest> {
    const { request: send, Agent } = await import('node:https');
    const identity = this.#identity();
    const options: RequestOptions = {
      host,
      port,
      ...request,
      ca: identity.authority,
      cert: identity.certificate,
      key: identity.key,
      minVersion: 'TLSv1.2',
      ...(how.unverified && { rejectUnauthorized: false }),
      agent: how.leavesHttp || how.unverified ? new Agent({ keepAlive: false }) : this.#agent(identity, Agent),
    };
    const outgoing = send(options);
    outgoing.once('socket', (socket) => limitConnecting(outgoing, socket, { address: host, port }));
    return outgoing;
  }

  close(): void {
    this.#shared?.agent.destroy();
    this.#shared = undefined;
  }

  #agent(identity: NodeIdentity, AgentClass: typeof Agent): Agent {
    if (this.#shared?.identity.certificate === identity.certificate) return this.#shared.agent;
    this.close();
    const agent = new AgentClass({ keepAlive: true, maxFreeSockets: 8, timeout: IDLE_MS });
    this.#shared = { identity, agent };
    return agent;
  }
}

function limitConnecting(outgoing: ClientRequest, socket: Socket, to: { address: string; port: number }): void {
  if (!socket.connecting) return;
  const late = Object.assign(new Error('i/o timeout'), { code: 'ETIMEDOUT', ...to });
  const timer = setTimeout(() => outgoing.destroy(late), CONNECT_MS);
  timer.unref();
  socket.once('secureConnect', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
}
