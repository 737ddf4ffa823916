import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Serves a request that offers another protocol as if it had not: whoever offers must live with that, RFC 9110 7.8, and some programs offer
 * with every request. Node has given its connection up by then, so the server gets it anew, beginning with the same request without the offer.
 */
export function serveWithoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, rest: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i].toLowerCase() !== 'upgrade') head += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`;
  }
  socket.pause();
  socket.unshift(Buffer.concat([Buffer.from(`${head}\r\n`, 'latin1'), rest]));
  server.emit('connection', socket);
  socket.resume();
}
