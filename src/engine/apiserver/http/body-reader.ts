import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { failure } from '../../../kube/status.ts';

export const MAX_BODY_BYTES = 3 * 1024 * 1024;

export type NodeRequest = IncomingMessage | Http2ServerRequest;

function tooLarge(): Error {
  return failure('RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BODY_BYTES}`, {});
}

function gone(): Error {
  return failure('BadRequest', 'the client closed the connection before the body was complete');
}

function late(timeoutMs: number): Error {
  return failure('Timeout', `the body of the request was not complete after ${timeoutMs / 1000} seconds`, undefined, 408);
}

/** A request that gets no further keeps its place among those that are executed: it must not do so for ever. */
const BODY_TIMEOUT_MS = 60_000;

/** The whole body. Refuses more than 3 MiB before it is in memory, and certainly before it is parsed. */
export function readBytes(request: NodeRequest, timeoutMs = BODY_TIMEOUT_MS): Promise<Uint8Array> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > MAX_BODY_BYTES) return Promise.reject(tooLarge());
  // Nothing more would be heard of it.
  if (request.destroyed || request.aborted) return Promise.reject(gone());
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => refuse(late(timeoutMs)), timeoutMs);
    // Nor may it keep a stopped server alive.
    timer.unref();
    const chunks: Buffer[] = [];
    let size = 0;
    let settled = false;
    const refuse = (error: Error) => {
      settled = true;
      clearTimeout(timer);
      chunks.length = 0;
      reject(error);
    };
    request.on('data', (chunk: Buffer) => {
      size += chunk.byteLength;
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
      else if (!settled) refuse(tooLarge());
    });
    request.on('end', () => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
    });
    request.on('error', (error: Error) => {
      if (!settled) refuse(error);
    });
    // Every request is closed in the end, and an error costs more than the rest of this: it is made only for those cut short.
    request.on('close', () => {
      if (!settled) refuse(gone());
    });
  });
}

/** How long the rest of a refused body is read and thrown away. */
const LINGER_MS = 1000;

/**
 * A client that is still sending does not read yet: if the connection were closed under it, it would see a reset instead of the
 * answer. So what it sends is thrown away for a moment; one that does not stop is cut.
 */
export function discardRest(request: NodeRequest): void {
  if (request.complete || request.destroyed || 'stream' in request) return;
  const timer = setTimeout(() => request.socket.destroy(), LINGER_MS);
  timer.unref();
  request.once('close', () => clearTimeout(timer));
  request.once('end', () => clearTimeout(timer));
  request.resume();
}
