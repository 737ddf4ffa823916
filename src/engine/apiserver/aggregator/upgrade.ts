import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { UserInfo } from '../auth/user.ts';
import type { RemoteApi } from './api-service.ts';
import { backendErrorText, type Backend } from './backend.ts';
import { requestHeaders } from './forwarded-headers.ts';
import { relayUpgrade } from '../http/relay.ts';

/**
 * Connects a request that wants another protocol (WebSocket, SPDY) with the server behind an APIService: after both agreed,
 * bytes go through untouched. Resolves when the server's answer is on its way.
 */
export async function proxyUpgrade(
  backend: Backend,
  req: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  user: UserInfo,
  api: RemoteApi,
): Promise<void> {
  if (!api.available) return refuse(socket, 503, 'service unavailable');
  const headers = requestHeaders(req.headers, user, {
    host: req.headers.host,
    address: req.socket?.remoteAddress,
    uri: req.url?.split('?')[0],
  });
  headers.connection = 'Upgrade';
  headers.upgrade = req.headers.upgrade ?? '';
  let outgoing;
  try {
    outgoing = await backend.open(api, { method: req.method ?? 'GET', path: req.url ?? '/', headers }, true);
  } catch {
    return refuse(socket, 503, 'service unavailable');
  }
  try {
    await relayUpgrade(outgoing, socket, head);
  } catch (error) {
    refuse(socket, 503, `error trying to reach service: ${backendErrorText(error, api)}`);
  }
}

function refuse(socket: Duplex, code: number, message: string): void {
  if (socket.destroyed) return;
  const body = `${message}\n`;
  socket.end(
    `HTTP/1.1 ${code} ${STATUS_CODES[code]}\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
