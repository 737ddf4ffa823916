import * as http from 'node:http';
import * as https from 'node:https';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Clock, Timer } from '../clock.ts';
import { proxyFor, type ProxySettings } from './proxy-settings.ts';
import { connectionError, RegistryError } from './registry-error.ts';
import { proxyAuthorization, TunnelAgent } from './tunnel-agent.ts';

export interface Timeouts {
  /** Until the connection stands, TLS included. */
  connectMs: number;
  /** Without a byte from the other side. */
  idleMs: number;
}

export interface ExchangeOptions {
  clock: Clock;
  timeouts: Timeouts;
  /** Plain HTTP is spoken, and redirects to it are followed, only if set. */
  insecure: boolean;
  ca?: string;
  proxy: ProxySettings;
}

export interface Answer {
  status: number;
  statusText: string;
  headers: http.IncomingHttpHeaders;
  /** To be read to its end, or let go with `discard`. */
  chunks: AsyncIterable<Buffer>;
  discard(): void;
}

const MAX_SOCKETS = 6;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;

/** What goes with a request that writes. */
export interface Sent {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT';
  body?: Buffer;
}

/** Connections to one registry and to where it sends us. */
export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #http = new http.Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });
  readonly #https: https.Agent;
  #tunnel: TunnelAgent | undefined;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#https = new https.Agent(this.#tlsOptions());
  }

  /** Follows redirects. The authorization goes to no other host. @throws RegistryError, or the signal's reason */
  async send(url: URL, headers: Record<string, string>, signal: AbortSignal, what: Sent = { method: 'GET' }): Promise<Answer> {
    let at = url;
    let sent = headers;
    for (let hops = 0; ; hops++) {
      const answer = await this.#once(what, at, sent, signal);
      const location = REDIRECTS.has(answer.status) ? answer.headers.location : undefined;
      if (location === undefined) return answer;
      answer.discard();
      if (hops === MAX_REDIRECTS) throw new RegistryError(`${url.host} redirects more than ${MAX_REDIRECTS} times`);
      const next = redirectTarget(at, location);
      if (next.host !== at.host || next.protocol !== at.protocol) sent = withoutAuthorization(sent);
      at = next;
    }
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
    this.#tunnel?.destroy();
  }

  #tlsOptions(): https.AgentOptions {
    const { ca } = this.#options;
    const secureContext = ca === undefined ? undefined : trustingAlso(ca);
    return { keepAlive: true, maxSockets: MAX_SOCKETS, ...(secureContext && { secureContext }) };
  }

  /** A request, not sent yet: straight to the host, or by the proxy. */
  #request(method: string, url: URL, headers: Record<string, string>, signal: AbortSignal): http.ClientRequest {
    const proxy = proxyFor(url, this.#options.proxy);
    if (url.protocol === 'https:') {
      if (proxy !== undefined) this.#tunnel ??= new TunnelAgent(this.#tlsOptions(), proxy, this.#options.timeouts.connectMs);
      return https.request(url, { method, agent: proxy === undefined ? this.#https : this.#tunnel, headers, signal });
    }
    if (proxy === undefined) return http.request(url, { method, agent: this.#http, headers, signal });
    const all = { ...headers, host: url.host, ...proxyAuthorization(proxy) };
    return http.request(proxy, { method, path: url.href, agent: this.#http, headers: all, signal });
  }

  #once({ method, body }: Sent, url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Answer> {
    if (url.protocol === 'http:' && !this.#options.insecure) {
      throw new RegistryError(
        `${url.host} would be asked by plain HTTP, which is only done for registries marked \`insecure: true\` in registries.yaml`,
      );
    }
    return new Promise((resolve, reject) => {
      const request = this.#request(method, url, headers, signal);
      // Once there is a response the error has to come out of it: ending the request would only cut it short.
      let waitingFor: { destroy(error: Error): unknown } = request;
      const watchdog = new Watchdog(this.#options.clock, (ms) => void waitingFor.destroy(silence(url.host, ms)));
      const fail = (error: Error) => {
        watchdog.stop();
        reject(asError(url.host, error, signal));
      };
      watchdog.start(this.#options.timeouts.connectMs);
      request.on('socket', (socket) => {
        const ready = () => watchdog.start(this.#options.timeouts.idleMs);
        if (!socket.connecting) ready();
        else socket.once(url.protocol === 'http:' ? 'connect' : 'secureConnect', ready);
      });
      request.on('error', fail);
      request.on('response', (response) => {
        waitingFor = response;
        watchdog.start(this.#options.timeouts.idleMs);
        resolve(answerOf(url.host, response, watchdog, signal));
      });
      request.end(body);
    });
  }
}

/** Reads an answer of bounded size. */
export async function readAll(answer: Answer, host: string, maxBytes: number, what: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer.chunks) {
    size += chunk.length;
    if (size > maxBytes) {
      answer.discard();
      throw new RegistryError(`${what} from ${host} is larger than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function answerOf(host: string, response: http.IncomingMessage, watchdog: Watchdog, signal: AbortSignal): Answer {
  async function* chunks(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        // Our own slowness is not the registry's silence.
        watchdog.pause();
        yield chunk;
        watchdog.resume();
      }
    } catch (error) {
      throw asError(host, error as Error, signal);
    } finally {
      watchdog.stop();
    }
  }
  return {
    status: response.statusCode ?? 0,
    statusText: response.statusMessage ?? '',
    headers: response.headers,
    chunks: chunks(),
    discard() {
      watchdog.stop();
      response.on('error', () => {});
      response.destroy();
    },
  };
}

/** The system's authorities and one more. Naming them all as `ca` would parse each of them again for every connection. */
function trustingAlso(ca: string): SecureContext {
  const secure = createSecureContext();
  const { context } = secure;
  for (const pem of ca.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []) context.addCACert(pem);
  return secure;
}

function silence(host: string, ms: number): RegistryError {
  return new RegistryError(`${host} did not answer within ${ms / 1000} s`, { retry: 'after-progress' });
}

function asError(host: string, error: Error, signal: AbortSignal): Error {
  if (signal.aborted) return signal.reason instanceof Error ? signal.reason : error;
  return error instanceof RegistryError ? error : connectionError(host, error);
}

function redirectTarget(from: URL, location: string): URL {
  try {
    const next = new URL(location, from);
    if (next.protocol === 'https:' || next.protocol === 'http:') return next;
  } catch {
    // Told below.
  }
  throw new RegistryError(`${from.host} redirects to something that is no web address`);
}

function withoutAuthorization(headers: Record<string, string>): Record<string, string> {
  const { authorization: _, ...rest } = headers;
  return rest;
}

/** One timer per request, started anew by every sign of life. */
class Watchdog {
  readonly #clock: Clock;
  readonly #bark: (ms: number) => void;
  #timer: Timer | undefined;
  #ms = 0;
  #lastSign = 0;
  #paused = false;

  constructor(clock: Clock, bark: (ms: number) => void) {
    this.#clock = clock;
    this.#bark = bark;
  }

  start(ms: number): void {
    this.stop();
    this.#ms = ms;
    this.#paused = false;
    this.#lastSign = this.#clock.monotonic();
    this.#arm(ms);
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#lastSign = this.#clock.monotonic();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Signs of life only write down the time; the timer looks at it when it fires. */
  #arm(ms: number): void {
    this.#timer = this.#clock.setTimer(ms, () => {
      const left = this.#paused ? this.#ms : this.#lastSign + this.#ms - this.#clock.monotonic();
      if (left > 0) this.#arm(left);
      else this.#bark(this.#ms);
    });
  }
}
