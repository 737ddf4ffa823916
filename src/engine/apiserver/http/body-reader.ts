import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { failure } from '../../../kube/status.ts';

export const MAX_BODY_BYTES = 3 * 1024 * 1024;

export type NodeRequest = IncomingMessage | Http2ServerRequest;

function tooLarge(): Error {
  return failure('RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BODY_BYTES}`, {});
}

/** The whole body. Refuses more than 3 MiB before it is in memory, and certainly before it is parsed. */
export function readBytes(request: NodeRequest): Promise<Uint8Array> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > MAX_BODY_BYTES) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.byteLength;
      if (size > MAX_BODY_BYTES) {
        chunks.length = 0;
        reject(tooLarge());
        return;
      }
      chunks.push(chunk);
    });
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    request.on('aborted', () => reject(failure('BadRequest', 'the client closed the connection before the body was complete')));
    request.on('error', reject);
  });
}
