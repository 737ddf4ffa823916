import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Readable } from 'node:stream';
import type { InMemoryHandler } from '../../../client/transport.ts';
import type { Json } from '../../../kube/object.ts';
import type { WatchEvent } from '../../../kube/watch-event.ts';
import type { UserInfo } from '../auth/user.ts';
import type { RequestInfo } from './request-info.ts';

/** A request after TLS: from a socket, or from inside the process with the identity already known. */
export interface ApiRequest {
  method: string;
  info: RequestInfo;
  query: URLSearchParams;
  /** Lower-case names. */
  headers: Record<string, string | string[] | undefined>;
  user: UserInfo;
  body: RequestBody;
  raw?: RawExchange;
  /** The body or the stored object is so large that the steps of the write give way to others in between. */
  large?: boolean;
  /** Fires when the client goes away or the server stops. */
  readonly signal: AbortSignal;
  /** Shown to the client as Warning headers. */
  warnings: string[];
  /** For the audit log. */
  auditAnnotations: Record<string, string>;
}

export interface RawExchange {
  request: IncomingMessage | Http2ServerRequest;
  response: ServerResponse | Http2ServerResponse;
}

export interface RequestBody {
  contentType: string;
  /** Bytes from a socket, a value from inside the process. The value belongs to the caller: copy before editing. */
  read(): Promise<{ bytes: Uint8Array } | { value: unknown }>;
}

export interface ApiResponse {
  status: number;
  headers?: Record<string, string>;
  body: ResponseBody;
}

/**
 * What an answer is made of. Objects keep both forms: sockets take the bytes that are stored, callers inside the
 * process the parsed object, and neither pays for the other.
 */
export type ResponseBody =
  | { kind: 'object'; bytes(): Uint8Array; value(): Json }
  | { kind: 'list'; list: ListAnswer }
  | { kind: 'watch'; start(sink: ByteSink): () => void; events(signal: AbortSignal): AsyncIterable<WatchEvent> }
  | { kind: 'raw'; contentType: string; bytes: Uint8Array }
  /** Handed on as it comes, for as long as it comes. */
  | { kind: 'stream'; contentType: string; stream: Readable }
  /** The answer of somebody else (an aggregated server): written to the request's socket, or decoded for a caller inside the process. */
  | { kind: 'proxied'; run(): Promise<void>; decoded(): ReturnType<InMemoryHandler> };

/** A list in slices, so that 100,000 objects neither block the event loop nor stand in memory twice. */
export interface ListAnswer {
  contentType: string;
  /** Total size when it is known without encoding everything. */
  contentLength?: number;
  chunks(): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  value(): Promise<Json>;
}

/** Where a watch writes to. */
export interface ByteSink {
  /** False when the receiver is behind: wait for `drained` before writing more. */
  write(chunk: Uint8Array): boolean;
  drained(callback: () => void): void;
  end(): void;
}

const encoder = new TextEncoder();

export function objectResponse(status: number, object: Json, headers?: Record<string, string>): ApiResponse {
  return {
    status,
    headers,
    body: { kind: 'object', bytes: () => encoder.encode(JSON.stringify(object)), value: () => object },
  };
}

export function textResponse(status: number, text: string, contentType = 'text/plain; charset=utf-8'): ApiResponse {
  return { status, body: { kind: 'raw', contentType, bytes: encoder.encode(text) } };
}
