import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** One HTTP request and the start of its answer, the same over both versions of HTTP. */
export interface HttpRequest {
  method: string;
  /** With query. */
  path: string;
  headers: Record<string, string | string[]>;
  body?: Buffer;
  signal?: AbortSignal;
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string>;
  /** Ends when the answer is complete; fails with TransportError ConnectionLost when it was cut. */
  body: Readable;
  /** False when the answer ended before it was complete although the stream itself did not fail. */
  complete(): boolean;
}

export interface HttpConnections {
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** Connections made from now on; those in use finish their requests. */
  renew(): void;
  close(): void;
}

export function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(':')) continue;
    plain[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return plain;
}
