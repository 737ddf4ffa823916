import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { badRequestError, failure, StatusError } from '../../../kube/status.ts';
import type { TransportResponse } from '../../../client/transport.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Admission } from '../admission/chain.ts';
import { goHttpError } from '../admission/webhook/go-http-error.ts';
import { forwardedHeaders, responseHeaders, type HeaderValues } from '../aggregator/forwarded-headers.ts';
import type { ApiRequest, ApiResponse, RawExchange } from '../chain/request.ts';
import type { RequestInfo } from '../chain/request-info.ts';
import type { ObjectReader } from '../registry/objects.ts';
import { admitConnection } from './connect-admission.ts';
import type { ProxyQuery } from './connect-options.ts';
import type { NodeConnections } from './node-connections.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { proxiedAddress, type ProxiedAddress } from './proxied-address.ts';
import { relayUpgrade } from '../http/relay.ts';

export interface ProxiedTargetOptions {
  reader: ObjectReader;
  admission: Admission;
  connections: NodeConnections;
  outbound: Outbound;
  clock: Clock;
  random: () => number;
}

const KINDS: Record<string, ProxyQuery['kind']> = { pods: 'PodProxyOptions', services: 'ServiceProxyOptions', nodes: 'NodeProxyOptions' };

export function isProxied({ group, resource, subresource }: RequestInfo): boolean {
  return group === '' && subresource === 'proxy' && KINDS[resource] !== undefined;
}

/** Plain HTTP to Pods, Services and nodes: `.../proxy/<path>`. */
export class ProxiedTargets {
  readonly #options: ProxiedTargetOptions;
  readonly #open = new Set<ClientRequest>();

  constructor(options: ProxiedTargetOptions) {
    this.#options = options;
  }

  async answer(request: ApiRequest): Promise<ApiResponse> {
    const { info, raw, method, query } = request;
    await this.#admit(request);
    const address = this.#address(info);
    if (info.rest === '' && !info.path.endsWith('/') && (method === 'GET' || method === 'HEAD')) {
      const location = `${info.path}/${query.size === 0 ? '' : `?${query.toString()}`}`;
      return { status: 301, headers: { location }, body: { kind: 'raw', contentType: 'text/plain', bytes: new Uint8Array() } };
    }
    return {
      status: 200,
      body: { kind: 'proxied', run: () => this.#forward(info, address, raw!), decoded: () => this.#decoded(request, address) },
    };
  }

  async upgrade(request: ApiRequest, raw: IncomingMessage, socket: Duplex, head: Buffer): Promise<number> {
    await this.#admit(request);
    const address = this.#address(request.info);
    const headers = headersFor(raw);
    headers.connection = 'Upgrade';
    headers.upgrade = raw.headers.upgrade ?? '';
    try {
      return await relayUpgrade(await this.#send(address, raw.method ?? 'GET', pathOf(request.info, raw), headers), socket, head);
    } catch (error) {
      throw unreachable(error, address);
    }
  }

  close(): void {
    for (const outgoing of this.#open) outgoing.destroy();
  }

  async #admit(request: ApiRequest): Promise<void> {
    const { info } = request;
    await admitConnection(this.#options.admission, request, {
      apiVersion: 'v1',
      kind: KINDS[info.resource],
      ...(info.rest && { path: info.rest }),
    });
  }

  #address(info: RequestInfo): ProxiedAddress {
    return proxiedAddress(this.#options.reader, info, this.#options.random);
  }

  async #forward(info: RequestInfo, address: ProxiedAddress, { request, response }: RawExchange): Promise<void> {
    const res = response as ServerResponse;
    try {
      const outgoing = await this.#send(address, request.method ?? 'GET', pathOf(info, request), headersFor(request));
      const answer = await exchange(outgoing, request as IncomingMessage, res);
      if (answer === undefined) return;
      const headers = responseHeaders(answer.headers);
      if (typeof headers.location === 'string') headers.location = locationHere(info, headers.location);
      res.writeHead(answer.statusCode ?? 502, headers);
      // Servers that stream may have nothing to say for long.
      res.flushHeaders?.();
      await new Promise<void>((resolve) => {
        answer.on('error', () => res.destroy());
        res.once('close', resolve);
        answer.pipe(res);
      });
    } catch (error) {
      writeStatus(res, unreachable(error, address));
    }
  }

  /** For callers inside the process, which have no socket to write to. */
  async #decoded({ info, method, query, headers }: ApiRequest, address: ProxiedAddress): Promise<TransportResponse> {
    if (method !== 'GET') throw badRequestError(`Cannot ${method} "${info.path}" from inside the process: only GET is passed on`);
    const path = `/${info.rest}${query.size === 0 ? '' : `?${query.toString()}`}`;
    try {
      const outgoing = await this.#send(address, method, path, forwardedHeaders(headers, {}));
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        outgoing.once('error', reject);
        outgoing.once('response', resolve);
        outgoing.end();
      });
      const body = await wholeText(answer);
      const isJson = answer.headers['content-type']?.includes('json') === true;
      return { status: answer.statusCode ?? 502, headers: plain(answer), body: isJson ? (JSON.parse(body) as unknown) : body };
    } catch (error) {
      throw unreachable(error, address);
    }
  }

  async #send(address: ProxiedAddress, method: string, path: string, headers: Record<string, string | string[]>): Promise<ClientRequest> {
    const outgoing = await this.#request(address, method, path, headers);
    this.#open.add(outgoing);
    outgoing.once('close', () => this.#open.delete(outgoing));
    return outgoing;
  }

  async #request(
    address: ProxiedAddress,
    method: string,
    path: string,
    headers: Record<string, string | string[]>,
  ): Promise<ClientRequest> {
    const { connections, reader, clock, outbound } = this.#options;
    if (address.kind === 'node') return connections.open(address.node, { method, path, headers });
    const host = address.kind === 'address' ? address.host : (address.pod.status?.podIP as string);
    const tunnel =
      address.kind === 'pod'
        ? await (await import('./node-tunnel.ts')).dialThroughNode(connections, reader, address.pod, address.port, clock)
        : await outbound.dial(address);
    const way = tunnel ? {} : outbound.connectOptions(host);
    const options = { method, path, headers, host, port: address.port, agent: false as const, ...way };
    if (!address.secure) {
      const { request } = await import('node:http');
      return request({ ...options, ...(tunnel && { createConnection: () => tunnel }) });
    }
    const [{ request }, { connect }] = await Promise.all([import('node:https'), import('node:tls')]);
    // As kube-apiserver: nobody says which certificate a Pod would have to show.
    const insecure = { rejectUnauthorized: false };
    return request({ ...options, ...insecure, ...(tunnel && { createConnection: () => connect({ socket: tunnel, ...insecure }) }) });
  }
}

/** The answer; undefined when the client left first. */
function exchange(outgoing: ClientRequest, request: IncomingMessage, response: ServerResponse): Promise<IncomingMessage | undefined> {
  return new Promise((resolve, reject) => {
    response.once('close', () => {
      outgoing.destroy();
      resolve(undefined);
    });
    outgoing.once('error', reject);
    outgoing.once('response', resolve);
    request.pipe(outgoing);
  });
}

const MAX_DECODED_BYTES = 16 * 1024 * 1024;

async function wholeText(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    size += (chunk as Buffer).length;
    if (size > MAX_DECODED_BYTES) throw new Error(`the answer is larger than ${MAX_DECODED_BYTES} bytes`);
    parts.push(chunk as Buffer);
  }
  return Buffer.concat(parts).toString();
}

function plain({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(responseHeaders(headers)).map(([name, value]) => [name, String(value)]));
}

function headersFor(request: RawExchange['request']): Record<string, string | string[]> {
  const headers = request.headers as HeaderValues;
  const host = headers.host ?? headers[':authority'];
  return forwardedHeaders(headers, {
    host: Array.isArray(host) ? host[0] : host,
    address: request.socket?.remoteAddress,
    uri: request.url?.split('?')[0],
  });
}

function pathOf({ rest }: RequestInfo, request: { url?: string }): string {
  const query = request.url?.split('?').slice(1).join('?');
  return `/${rest}${query ? `?${query}` : ''}`;
}

/** Redirects stay within the proxy. */
function locationHere(info: RequestInfo, location: string): string {
  if (!location.startsWith('/') || location.startsWith('//')) return location;
  const base = info.rest === '' ? info.path.replace(/\/$/, '') : info.path.slice(0, info.path.length - info.rest.length - 1);
  return `${base}${location}`;
}

function unreachable(error: unknown, address: ProxiedAddress): StatusError {
  if (error instanceof StatusError) return error;
  const host = address.kind === 'address' ? address.host : address.kind === 'node' ? address.node.host : address.pod.metadata.name!;
  return failure('ServiceUnavailable', `error trying to reach service: ${goHttpError(error as NodeJS.ErrnoException, host)}`);
}

function writeStatus(response: ServerResponse, { status, code }: StatusError): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const body = JSON.stringify(status);
  response.writeHead(code, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
