import * as http from 'node:http';
import * as https from 'node:https';
import type { Duplex } from 'node:stream';
import { connect, type ConnectionOptions } from 'node:tls';
import { RegistryError } from './registry-error.ts';

type Made = (error: Error | null, socket?: Duplex) => void;

/** Connections by TLS through an HTTP proxy, which sees the host's name and nothing else. */
export class TunnelAgent extends https.Agent {
  readonly #proxy: URL;
  readonly #patienceMs: number;

  constructor(options: https.AgentOptions, proxy: URL, patienceMs: number) {
    super(options);
    this.#proxy = proxy;
    this.#patienceMs = patienceMs;
  }

  /** Called by Node when no connection is free. */
  override createConnection(options: ConnectionOptions & { host: string; port: number | string }, made: Made): undefined {
    const target = `${options.host.includes(':') ? `[${options.host}]` : options.host}:${options.port}`;
    const request = http.request({
      host: this.#proxy.hostname,
      port: this.#proxy.port || 80,
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...proxyAuthorization(this.#proxy) },
      agent: false,
      timeout: this.#patienceMs,
    });
    const fail = (what: string, cause?: Error) => made(new RegistryError(`the proxy ${this.#proxy.host} ${what}`, { cause }));
    request.once('connect', (response, socket) => {
      socket.setTimeout(0);
      if (response.statusCode === 200) {
        made(null, connect({ ...options, socket, servername: options.servername || options.host }));
        return;
      }
      socket.destroy();
      fail(`does not let us through to ${target} (it answered ${response.statusCode} ${response.statusMessage ?? ''})`);
    });
    request.once('timeout', () => request.destroy(new Error('it does not answer')));
    request.once('error', (error) => fail(`cannot be used (${error.message})`, error));
    request.end();
    return undefined;
  }
}

export function proxyAuthorization(proxy: URL): Record<string, string> {
  if (proxy.username === '') return {};
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` };
}
