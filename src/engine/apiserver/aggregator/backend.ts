import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Agent, RequestOptions } from 'node:https';
import { goHttpError } from '../admission/webhook/go-http-error.ts';
import { serverNameOf, type RemoteApi } from './api-service.ts';
import { ANYWHERE, type Outbound } from '../outbound/outbound.ts';
import { throughTunnel } from '../outbound/through-tunnel.ts';
import type { Address, ServicePortReference } from './service-address.ts';

/** How we show aggregated servers that it is us: they believe X-Remote-* only from this certificate. */
export interface ProxyIdentity {
  /** PEM. */
  certificate: string;
  key: string;
}

export interface BackendOptions {
  /** @throws Error when the service leads nowhere. */
  resolve: (service: ServicePortReference) => Address;
  /** Asked for each new agent: the certificate may be renewed. */
  identity: () => ProxyIdentity;
  outbound?: Outbound;
}

export interface BackendRequest {
  method: string;
  /** With query. */
  path: string;
  headers: Record<string, string | string[]>;
  signal?: AbortSignal;
}

const IDLE_MS = 90_000;

/** Connections to aggregated servers, kept open per APIService. */
export class Backend {
  readonly #options: BackendOptions;
  readonly #agents = new Map<string, { key: string; agent: Agent }>();

  constructor(options: BackendOptions) {
    this.#options = options;
  }

  /** An open request to a server behind the APIService; its body is still to be written. @throws what resolving throws. */
  async open(api: RemoteApi, { method, path, headers, signal }: BackendRequest, fresh = false): Promise<ClientRequest> {
    const address = this.#options.resolve(api.service);
    const { outbound = ANYWHERE } = this.#options;
    const { request, Agent } = await import('node:https');
    const tls = this.#tlsOptions(api);
    const options: RequestOptions = { method, path, headers: { ...headers, host: hostText(address) }, ...tls, signal };
    const tunnel = await outbound.dial(address);
    if (tunnel) return request({ ...options, ...(await throughTunnel(tunnel, tls)) });
    const { host, port } = address;
    const place = { host, port, ...outbound.connectOptions(host) };
    // Setting the server's name by hand would be refused for addresses, but services always have one.
    return request({ ...options, ...place, agent: fresh ? new Agent({ keepAlive: false }) : this.#agent(api, tls, Agent) });
  }

  /** One request without body, its answer read whole. */
  async fetch(
    api: RemoteApi,
    request: BackendRequest,
    limit: number,
  ): Promise<{ status: number; headers: IncomingMessage['headers']; bytes: Buffer }> {
    const outgoing = await this.open(api, request);
    return new Promise((resolve, reject) => {
      outgoing.on('error', reject);
      outgoing.on('response', (answer) => {
        const chunks: Buffer[] = [];
        let size = 0;
        answer.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > limit) answer.destroy(new Error(`the answer is larger than ${limit} bytes`));
          else chunks.push(chunk);
        });
        answer.on('error', reject);
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: Buffer.concat(chunks) }));
      });
      outgoing.end();
    });
  }

  forget(apiServiceName: string): void {
    this.#agents.get(apiServiceName)?.agent.destroy();
    this.#agents.delete(apiServiceName);
  }

  close(): void {
    for (const name of this.#agents.keys()) this.forget(name);
  }

  #tlsOptions(api: RemoteApi): RequestOptions {
    const { certificate, key } = this.#options.identity();
    return {
      cert: certificate,
      key,
      ca: api.caBundle,
      rejectUnauthorized: !api.insecureSkipTLSVerify,
      servername: serverNameOf(api),
    };
  }

  #agent(api: RemoteApi, tls: RequestOptions, AgentClass: typeof Agent): Agent {
    const key = JSON.stringify([tls.cert, tls.ca, tls.rejectUnauthorized, tls.servername]);
    const known = this.#agents.get(api.name);
    if (known?.key === key) return known.agent;
    known?.agent.destroy();
    const agent = new AgentClass({ keepAlive: true, maxFreeSockets: 32, timeout: IDLE_MS });
    this.#agents.set(api.name, { key, agent });
    return agent;
  }
}

function hostText({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** What Go's client would have said. */
export function backendErrorText(error: unknown, api: RemoteApi): string {
  return goHttpError(error as NodeJS.ErrnoException, serverNameOf(api));
}
