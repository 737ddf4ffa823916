import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { UserInfo } from '../auth/user.ts';
import type { RemoteApi } from './api-service.ts';
import { backendErrorText, type Backend } from './backend.ts';
import { requestHeaders } from './forwarded-headers.ts';

/**
 * Connects a request that wants another protocol (WebSocket, SPDY) with the server behind an APIService: after both agreed,
 * bytes go through untouched. Resolves when one side has closed.
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
  await new Promise<void>((resolve) => {
    outgoing.on('error', (error) => {
      refuse(socket, 503, `error trying to reach service: ${backendErrorText(error, api)}`);
      resolve();
    });
    outgoing.on('upgrade', (answer, remote, remoteHead) => {
      socket.write(headText(answer));
      join(socket, remote, head, remoteHead, resolve);
    });
    // Refused by the server itself: its answer goes back as it is.
    outgoing.on('response', (answer) => {
      socket.write(headText(answer));
      answer.pipe(socket);
      answer.on('close', resolve);
    });
    socket.once('close', () => outgoing.destroy());
    outgoing.end();
  });
}

function join(local: Duplex, remote: Duplex, head: Buffer, remoteHead: Buffer, done: () => void): void {
  if (remoteHead.length > 0) local.write(remoteHead);
  if (head.length > 0) remote.write(head);
  local.pipe(remote).pipe(local);
  const close = () => {
    local.destroy();
    remote.destroy();
    done();
  };
  for (const side of [local, remote]) side.on('error', close).on('close', close);
}

/** Status line and headers as they came. Framing headers would be wrong: the body is decoded already and ends with the connection. */
function headText(answer: IncomingMessage): string {
  const upgraded = answer.statusCode === 101;
  let text = `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage || STATUS_CODES[answer.statusCode ?? 0] || ''}\r\n`;
  for (let i = 0; i < answer.rawHeaders.length; i += 2) {
    const name = answer.rawHeaders[i].toLowerCase();
    if (!upgraded && (name === 'transfer-encoding' || name === 'connection' || name === 'keep-alive')) continue;
    text += `${answer.rawHeaders[i]}: ${answer.rawHeaders[i + 1]}\r\n`;
  }
  return upgraded ? `${text}\r\n` : `${text}Connection: close\r\n\r\n`;
}

function refuse(socket: Duplex, code: number, message: string): void {
  if (socket.destroyed) return;
  const body = `${message}\n`;
  socket.end(
    `HTTP/1.1 ${code} ${STATUS_CODES[code]}\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
