import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { badRequestError, failure } from '../../../kube/status.ts';

const VERSION_HEADER = 'x-stream-protocol-version';

/** The first protocol of the client that we speak too. @throws StatusError in Kubernetes' words. */
export function negotiateProtocol(
  { headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
  ours: readonly string[],
): string {
  const value = headers[VERSION_HEADER];
  if (value === undefined) {
    const count = new Set(rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())).size;
    throw badRequestError(`unable to upgrade: header X-Stream-Protocol-Version does not exist in request with ${count} headers`);
  }
  const theirs = (Array.isArray(value) ? value.join(',') : value)
    .split(',')
    .map((protocol) => protocol.trim())
    .filter(Boolean);
  const found = theirs.find((protocol) => ours.includes(protocol));
  if (found !== undefined) return found;
  throw failure(
    'Forbidden',
    `unable to upgrade: unable to negotiate protocol: client supports [${theirs.join(' ')}], server accepts [${ours.join(' ')}]`,
  );
}

export function acceptSpdy(socket: Duplex, protocol: string): void {
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
  );
}
