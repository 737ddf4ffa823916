import type { Readable } from 'node:stream';
import type { WebSocket } from 'ws';
import type { WatchEvent } from '../kube/watch-event.ts';

/** One request to a Kubernetes API, independent of how it travels. */
export interface TransportRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute, without query: `/apis/apps/v1/namespaces/default/deployments/web`. */
  path: string;
  query?: Record<string, string | string[] | undefined>;
  headers?: Record<string, string>;
  /** JSON bodies as values; the in-memory transport passes them on without encoding. */
  body?: unknown;
  /** application/json unless said otherwise (patches say so). */
  contentType?: string;
  signal?: AbortSignal;
  /** The client does not repeat it, whatever the answer: the caller asks again in a rhythm of its own. */
  once?: boolean;
}

export interface TransportResponse {
  status: number;
  headers: Record<string, string>;
  /** The decoded answer: an object, a list or a Status. Frozen and shared on the in-memory transport: never edit, copy. */
  body: unknown;
}

/**
 * How requests reach an API server. `request` resolves for every HTTP status and rejects only when the server could not be
 * reached (TransportError) or the signal fired. `watch` resolves once the server accepted the watch; the iteration
 * ends when the server closes it and throws when the connection breaks.
 */
export interface Transport {
  request(request: TransportRequest): Promise<TransportResponse>;
  watch(request: TransportRequest): Promise<AsyncIterable<WatchEvent>>;
  /** The body of an answer as it comes: logs. Resolves for every HTTP status, like `request`. */
  stream?(request: TransportRequest): Promise<StreamedResponse>;
  /** Leaves HTTP for a WebSocket: exec, attach, port-forward. Absent where there is no network to do so. It is paused: resume it once somebody listens. @throws StatusError */
  connect?(request: TransportRequest, protocols: string[]): Promise<ConnectedSocket>;
  close(): Promise<void>;
}

/** An answer that is read as it comes. */
export interface StreamedResponse {
  status: number;
  headers: Record<string, string>;
  /** Fails with a TransportError when the answer was cut short. */
  body: Readable;
}

export interface ConnectedSocket {
  webSocket: WebSocket;
  /** The one of the protocols that the server chose. */
  protocol: string;
}

/** What the in-memory transport is made from: the server's handler chain after TLS, with an identity already bound to it. */
export interface InMemoryHandler {
  (
    request: TransportRequest,
  ): Promise<
    | TransportResponse
    | { status: number; headers: Record<string, string>; events: AsyncIterable<WatchEvent> }
    | { status: number; headers: Record<string, string>; stream: Readable }
  >;
}
