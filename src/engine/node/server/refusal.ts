import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { internalServerError, StatusError } from '../../../kube/status.ts';

export function asStatusError(error: unknown): StatusError {
  return error instanceof StatusError ? error : internalServerError(error instanceof Error ? error.message : String(error));
}

/** The kubelet answers in plain text, and API servers make a Status of it. */
export function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { code, message } = asStatusError(error);
  response.writeHead(code, { 'content-type': 'text/plain; charset=utf-8', 'content-length': Buffer.byteLength(message) });
  response.end(message);
}

/** The answer to a request for another protocol goes through to the client as it is: so it is the Status that clients know to read. */
export function refuseUpgrade(socket: Duplex, error: unknown, headers: Record<string, string> = {}): void {
  const { status, code } = asStatusError(error);
  const body = JSON.stringify(status);
  const lines = Object.entries({
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${code} ${STATUS_CODES[code] ?? 'Error'}\r\n${lines.join('')}\r\n${body}`);
}
