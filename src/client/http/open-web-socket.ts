import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorText } from '../../lib/log.ts';
import { refusal } from '../requests.ts';
import { abortedError, TransportError } from '../transport-error.ts';
import type { ConnectedSocket } from '../transport.ts';
import { plainHeaders, type HttpRequest } from './exchange.ts';
import { readBody } from './read-body.ts';

const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

/** Turns a fresh connection into a WebSocket. @throws StatusError when the server refuses, TransportError when it does not answer. */
export async function openWebSocket(socket: Duplex, host: string, request: HttpRequest, protocols: string[]): Promise<ConnectedSocket> {
  const { WebSocket: Client } = await import('ws');
  const { signal } = request;
  return new Promise((resolve, reject) => {
    // The address is only for the Host header: the connection is there already, TLS included.
    const webSocket = new Client(`ws://${host}${request.path}`, {
      createConnection: () => socket as never,
      // Not as the package's own option: one of Kubernetes' protocols has a slash in its name, which it takes for a mistake.
      headers: { ...(request.headers as Record<string, string>), 'Sec-WebSocket-Protocol': protocols.join(', ') },
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE_BYTES,
      followRedirects: false,
    });
    // For as long as it lives, not only until it is open.
    const onAbort = (): void => webSocket.terminate();
    signal?.addEventListener('abort', onAbort, { once: true });
    webSocket.once('close', () => signal?.removeEventListener('abort', onAbort));
    let protocol = '';
    webSocket.once('upgrade', (answer) => {
      protocol = answer.headers['sec-websocket-protocol'] ?? '';
      delete answer.headers['sec-websocket-protocol'];
    });
    webSocket.once('open', () => {
      if (!protocols.includes(protocol)) {
        webSocket.terminate();
        reject(new TransportError('BadResponse', `Cannot use the protocol "${protocol}" that the server chose: it was not asked for`));
        return;
      }
      // Messages may come in one piece with the answer: they wait for somebody to listen.
      webSocket.pause();
      resolve({ webSocket, protocol });
    });
    webSocket.once('unexpected-response', (_outgoing, answer: IncomingMessage) => {
      const read = readBody({ status: 0, headers: plainHeaders(answer.headers), body: answer, complete: () => answer.complete }, signal);
      read.then((body) => reject(refusal({ status: answer.statusCode ?? 0, headers: plainHeaders(answer.headers), body })), reject);
    });
    webSocket.on('error', (error) => {
      const broken = new TransportError('ConnectionLost', `the connection broke before the answer: ${errorText(error)}`, { cause: error });
      reject(signal?.aborted ? abortedError(signal) : broken);
    });
  });
}
