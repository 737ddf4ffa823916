import { createServer, type Server } from 'node:https';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { SERVER_CERTIFICATE, SERVER_KEY, TEST_CA } from '../../admission/testing/certificates.ts';

export interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  /** Common name of the client's certificate, if it was signed by the test CA. */
  client?: string;
  body: string;
}

export interface ExtensionServer {
  port: number;
  seen: SeenRequest[];
  close(): Promise<void>;
}

/** An aggregated API server on loopback. Upgrades become an echo. */
export async function startExtensionServer(answer: (request: SeenRequest, response: ServerResponse) => void): Promise<ExtensionServer> {
  const running: ExtensionServer = { port: 0, seen: [], close: () => closed(server) };
  const options = { cert: SERVER_CERTIFICATE, key: SERVER_KEY, ca: TEST_CA, requestCert: true, rejectUnauthorized: false };
  const server = createServer(options, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const socket = request.socket as TLSSocket;
      const seen: SeenRequest = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        client: socket.authorized ? String(socket.getPeerCertificate().subject.CN) : undefined,
        body: Buffer.concat(chunks).toString(),
      };
      running.seen.push(seen);
      answer(seen, response);
    });
  });
  server.on('upgrade', (request, socket, head) => {
    running.seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body: '' });
    if (request.url === '/refuse') {
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
      return;
    }
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\n`);
    socket.write(head);
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  running.port = (server.address() as AddressInfo).port;
  return running;
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
