import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Json } from '../../../../kube/object.ts';
import { SERVER_CERTIFICATE, SERVER_KEY } from './certificates.ts';

export interface WebhookServer {
  port: number;
  /** The reviews it got, oldest first. */
  reviews: Json[];
  /** How many connections were made to it. */
  connections: number;
  close(): Promise<void>;
}

/** A webhook on loopback that answers each review with what `respond` says; a string answer is sent as it is with the code given. */
export async function startWebhookServer(respond: (request: Json, path: string) => Json): Promise<WebhookServer> {
  const running: WebhookServer = { port: 0, reviews: [], connections: 0, close: () => closed(server) };
  const server = createServer({ cert: SERVER_CERTIFICATE, key: SERVER_KEY }, (request, answer) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString());
      running.reviews.push(review);
      const response = respond(review.request, request.url ?? '');
      if (response === undefined) return;
      if (response.raw !== undefined) {
        answer.writeHead(response.code).end(response.raw);
        return;
      }
      const { apiVersion, kind } = review;
      answer.writeHead(200, { 'content-type': 'application/json' });
      answer.end(JSON.stringify({ apiVersion, kind, response: { uid: review.request.uid, ...response } }));
    });
  });
  server.on('secureConnection', () => running.connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  running.port = (server.address() as AddressInfo).port;
  return running;
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
