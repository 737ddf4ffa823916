import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { turns } from '../../../lib/turn-queue.ts';
import type { ApiResponse, ByteSink, ListAnswer } from '../chain/request.ts';

export type NodeResponse = ServerResponse | Http2ServerResponse;

/** What may stand in a socket's queue before a watch counts as slow and goes on from its cursor instead. */
const WATCH_BUFFER_BYTES = 1024 * 1024;

/** What may stand in a socket's queue before a large answer waits for its reader: enough to keep the socket busy while the next slice is made. */
const LIST_BUFFER_BYTES = 2 * 1024 * 1024;

const PIECE_BYTES = 512 * 1024;

type Headers = Record<string, string | number | string[]>;

/** Nobody is there any more to read an answer. */
export function isGone(response: NodeResponse): boolean {
  if ('stream' in response) return response.stream === undefined || response.stream.destroyed || response.stream.closed;
  return response.destroyed;
}

/** Writes an answer to a socket. Resolves when everything is handed over (for a watch: when it has ended). */
export function respond(response: NodeResponse, answer: ApiResponse, headers: Headers): Promise<void> | void {
  if (answer.headers !== undefined) Object.assign(headers, answer.headers);
  const { body } = answer;
  switch (body.kind) {
    case 'object': {
      const bytes = body.bytes();
      headers['content-type'] = 'application/json';
      headers['content-length'] = bytes.byteLength;
      return writeWhole(response, answer.status, headers, bytes);
    }
    case 'raw':
      headers['content-type'] = body.contentType;
      headers['content-length'] = body.bytes.byteLength;
      return writeWhole(response, answer.status, headers, body.bytes);
    case 'list':
      headers['content-type'] = body.list.contentType;
      if (body.list.contentLength !== undefined) headers['content-length'] = body.list.contentLength;
      return writeChunks(response, answer.status, headers, body.list.chunks());
    case 'stream':
      return writeStream(response, answer.status, headers, body.contentType, body.stream);
    case 'proxied':
      return body.run();
    case 'watch':
      return writeWatch(response, answer.status, headers, body.start);
  }
}

/** Every byte is encrypted here: what is large goes out in pieces, and others get their turn in between. */
function writeWhole(response: NodeResponse, status: number, headers: Headers, bytes: Uint8Array): Promise<void> | void {
  if (bytes.byteLength > PIECE_BYTES) return writeChunks(response, status, headers, piecesOf(bytes));
  response.writeHead(status, headers);
  (response as ServerResponse).end(bytes);
  readAfterWriting(response);
}

/**
 * The client may have the whole answer and send its next request before Node knows that its own writing is over. It then stops its HTTP/1.1 parser,
 * for what it takes for a flood of requests, while TLS goes on feeding it, and the connection breaks with `Parse Error: Paused`.
 */
function readAfterWriting(response: NodeResponse): void {
  if ('stream' in response || response.socket?.writableNeedDrain !== true) return;
  const { socket } = response;
  socket.pause();
  setImmediate(() => socket.resume());
}

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.byteLength; from += PIECE_BYTES) yield bytes.subarray(from, from + PIECE_BYTES);
}

type Chunks = ReturnType<ListAnswer['chunks']>;

async function writeChunks(response: NodeResponse, status: number, headers: Headers, chunks: Chunks): Promise<void> {
  response.writeHead(status, headers);
  const closed = closedPromise(response);
  for await (const chunk of chunks) {
    const turn = turns.enter();
    if (turn !== undefined) await turn;
    if (response.writableEnded || response.destroyed) return;
    const flowing = (response as ServerResponse).write(chunk);
    // Node would hold it back to the end of this turn, and encrypt there what all of them together have written.
    if (!('stream' in response)) response.socket?.uncork();
    if (!flowing && queued(response) > LIST_BUFFER_BYTES) await Promise.race([drainPromise(response), closed]);
  }
  (response as ServerResponse).end();
  readAfterWriting(response);
}

async function writeStream(response: NodeResponse, status: number, headers: Headers, contentType: string, stream: Readable): Promise<void> {
  headers['content-type'] = contentType;
  response.writeHead(status, headers);
  // It may have nothing to say for long; its client waits for the headers.
  (response as ServerResponse).flushHeaders?.();
  try {
    await pipeline(stream, response as ServerResponse);
  } catch {
    // Cut short at one end: it must not look complete at the other.
    response.destroy();
  }
}

function drainPromise(response: NodeResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('drain', () => resolve());
  });
}

function closedPromise(response: NodeResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', () => resolve());
  });
}

function writeWatch(response: NodeResponse, status: number, headers: Headers, start: (sink: ByteSink) => () => void): Promise<void> {
  headers['content-type'] = 'application/json';
  response.writeHead(status, headers);
  // A watch that has nothing to tell yet must still be seen as accepted.
  (response as ServerResponse).flushHeaders?.();
  return new Promise((resolve) => {
    const stop = start(watchSink(response));
    response.once('close', () => {
      stop();
      resolve();
    });
  });
}

function watchSink(response: NodeResponse): ByteSink {
  const end = () => void (response as ServerResponse).end();
  const isOver = () => response.destroyed || response.writableEnded;
  const socket = 'stream' in response ? null : response.socket;
  if (socket === null) {
    return {
      write: (chunk) => isOver() || (response as ServerResponse).write(chunk) || queued(response) < WATCH_BUFFER_BYTES,
      drained: (callback) => void response.once('drain', callback),
      end,
    };
  }
  // HTTP/1.1: the same chunk goes to every watcher of a crowd, so it is framed once and handed to each socket as one buffer. Node would
  // frame it anew for each, in four pieces that TLS then joins.
  return {
    write: (chunk) => isOver() || socket.write(framed(chunk)) || socket.writableLength < WATCH_BUFFER_BYTES,
    drained: (callback) => void socket.once('drain', callback),
    end,
  };
}

let lastFramed: { chunk: Uint8Array; frame: Buffer } | undefined;
const CRLF = Buffer.from('\r\n');

/** A chunk of the chunked transfer encoding. The last one is remembered: a crowd gets it one after the other. */
function framed(chunk: Uint8Array): Buffer {
  if (lastFramed?.chunk !== chunk) {
    lastFramed = { chunk, frame: Buffer.concat([Buffer.from(`${chunk.byteLength.toString(16)}\r\n`), chunk, CRLF]) };
  }
  return lastFramed.frame;
}

function queued(response: NodeResponse): number {
  if ('stream' in response) return response.stream?.writableLength ?? 0;
  return response.writableLength + (response.socket?.writableLength ?? 0);
}
