import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { badRequestError } from '../../../kube/status.ts';

/** Clients send 32 KiB at a time. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

export function isWebSocket({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** The first protocol of the client that we speak; '' stands for clients that name none. @throws StatusError */
export function chooseSubprotocol({ headers }: Pick<IncomingMessage, 'headers'>, ours: readonly string[]): string {
  const theirs = (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim());
  const found = theirs.find((protocol) => ours.includes(protocol));
  if (found !== undefined) return found;
  throw badRequestError(`requested protocol(s) are not supported: [${theirs.join(' ')}]; supports [${ours.join(' ')}]`);
}

export function acceptWebSocket(request: IncomingMessage, socket: Duplex, head: Buffer, protocol: string): Promise<WebSocket> {
  // One of Kubernetes' protocols has a slash in its name, which the package takes for a mistake: so the header passes it by.
  delete request.headers['sec-websocket-protocol'];
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  if (protocol !== '') server.on('headers', (headers) => void headers.push(`Sec-WebSocket-Protocol: ${protocol}`));
  return new Promise((resolve, reject) => {
    const gone = (): void => reject(new Error('the client left before the connection was made'));
    if (socket.destroyed) return gone();
    socket.once('close', gone);
    server.once('wsClientError', (error, refused) => {
      refused.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      reject(error);
    });
    server.handleUpgrade(request, socket, head, resolve);
  });
}
