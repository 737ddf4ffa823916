import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { errorText } from '../../lib/log.ts';
import { abortedError, TransportError } from '../transport-error.ts';
import { plainHeaders, type HttpAnswer, type HttpConnections, type HttpRequest } from './exchange.ts';

export interface Http1Options {
  host: string;
  secure: boolean;
  dial(): Promise<Duplex>;
}

/** HTTP/1.1: one request per connection at a time, connections kept for the next. */
export class Http1Connections implements HttpConnections {
  #options: Http1Options;
  #agent: HttpAgent;

  constructor(options: Http1Options) {
    this.#options = options;
    this.#agent = this.#newAgent();
  }

  send(request: HttpRequest): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const { signal } = request;
      const send = this.#options.secure ? httpsRequest : httpRequest;
      const headers = { ...request.headers, Host: this.#options.host };
      const outgoing: ClientRequest = send({ agent: this.#agent, method: request.method, path: request.path, headers });
      const onAbort = (): void => {
        outgoing.destroy();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const unhook = (): void => signal?.removeEventListener('abort', onAbort);
      outgoing.once('error', (error) => {
        unhook();
        reject(signal?.aborted ? abortedError(signal) : sendError(error));
      });
      outgoing.once('response', (incoming: IncomingMessage) => {
        incoming.once('close', unhook);
        resolve({
          status: incoming.statusCode ?? 0,
          headers: plainHeaders(incoming.headers),
          body: incoming,
          complete: () => incoming.complete,
        });
      });
      outgoing.end(request.body);
    });
  }

  renew(): void {
    const old = this.#agent;
    this.#agent = this.#newAgent();
    // Sockets in use are not in freeSockets: they finish and, their agent being gone, close.
    for (const sockets of Object.values(old.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    old.maxFreeSockets = 0;
  }

  close(): void {
    this.#agent.destroy();
  }

  #newAgent(): HttpAgent {
    const agent = new (this.#options.secure ? HttpsAgent : HttpAgent)({ keepAlive: true, maxFreeSockets: 16 });
    type Created = (error: Error | null, socket?: Duplex) => void;
    const createConnection = (_options: unknown, created: Created): undefined => {
      this.#options.dial().then(
        (socket) => created(null, socket),
        (error: Error) => created(error),
      );
    };
    return Object.assign(agent, { createConnection });
  }
}

function sendError(error: Error): TransportError {
  if (error instanceof TransportError) return error;
  return new TransportError('ConnectionLost', `the connection broke before the answer: ${errorText(error)}`, { cause: error });
}
