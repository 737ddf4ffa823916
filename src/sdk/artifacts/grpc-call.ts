import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';

/** Every message of gRPC is preceded by a flag (compressed or not) and its length. */
const PREFIX_BYTES = 5;
/** What gRPC servers send at most unless told otherwise. */
const LARGEST_MESSAGE = 4 << 20;

/** The default of 64 KiB would make every frame wait for a round trip through the API server and the node. */
const WINDOW_BYTES = 4 << 20;

export class GrpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'GrpcError';
    this.code = code;
  }
}

export const GRPC = {
  OK: 0,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  NOT_FOUND: 5,
  PERMISSION_DENIED: 7,
  FAILED_PRECONDITION: 9,
  UNIMPLEMENTED: 12,
  UNAVAILABLE: 14,
};

/**
 * One call with a stream of answers, on a connection that exists already: a port of a Pod, reached through the API server. The gRPC
 * library would want an address to dial.
 */
export async function* serverStream(
  connection: Duplex,
  path: string,
  message: Uint8Array,
  signal?: AbortSignal,
  headers: Record<string, string> = {},
): AsyncGenerator<Buffer, void, void> {
  if (connection.destroyed) throw new GrpcError(GRPC.UNAVAILABLE, 'the connection was closed before the call');
  const session = connect('http://runtimed', {
    createConnection: () => connection,
    settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
  });
  session.once('connect', () => session.setLocalWindowSize(WINDOW_BYTES));
  let broken: Error | undefined;
  session.on('error', (error) => (broken = error));
  // A connection that is no socket does not end its session by itself.
  connection.once('close', () => session.destroy());
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  const onAbort = (): void => stream.close(constants.NGHTTP2_CANCEL);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    stream.end(framed(message));
    const end = endOfCall(stream);
    // Read by whoever comes after the messages; until then it must not count as unhandled.
    end.catch(() => {});
    yield* messagesOf(stream);
    await end;
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof GrpcError ? error : new GrpcError(GRPC.UNAVAILABLE, (broken ?? (error as Error)).message);
  } finally {
    signal?.removeEventListener('abort', onAbort);
    close(session, connection);
  }
}

function close(session: ClientHttp2Session, connection: Duplex): void {
  session.destroy();
  connection.destroy();
}

function framed(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

async function* messagesOf(stream: ClientHttp2Stream): AsyncGenerator<Buffer, void, void> {
  let pending: Buffer = Buffer.alloc(0);
  for await (const chunk of stream) {
    pending = pending.length === 0 ? (chunk as Buffer) : Buffer.concat([pending, chunk as Buffer]);
    while (pending.length >= PREFIX_BYTES) {
      const length = pending.readUInt32BE(1);
      if (pending[0] !== 0) throw new GrpcError(GRPC.UNKNOWN, 'the answer is compressed, which was not asked for');
      if (length > LARGEST_MESSAGE) throw new GrpcError(GRPC.UNKNOWN, `the answer has a message of ${length} bytes`);
      if (pending.length < PREFIX_BYTES + length) break;
      yield pending.subarray(PREFIX_BYTES, PREFIX_BYTES + length);
      pending = pending.subarray(PREFIX_BYTES + length);
    }
  }
}

/** Resolves when the server said that all is well; that is in the trailers, or in the headers of an answer without messages. */
function endOfCall(stream: ClientHttp2Stream): Promise<void> {
  return new Promise((resolve, reject) => {
    const judge = (headers: Record<string, unknown>): void => {
      if (headers['grpc-status'] === undefined) return;
      const code = Number(headers['grpc-status']);
      const text = typeof headers['grpc-message'] === 'string' ? headers['grpc-message'] : '';
      if (code === GRPC.OK) resolve();
      else reject(new GrpcError(code, decoded(text) || `the call ended with gRPC code ${code}`));
    };
    stream.once('response', (headers) => {
      if (headers[':status'] !== 200) reject(new GrpcError(GRPC.UNAVAILABLE, `it answered ${headers[':status']}, which is not gRPC`));
      else judge(headers);
    });
    stream.once('trailers', judge);
    stream.once('error', reject);
    stream.once('close', () => reject(new GrpcError(GRPC.UNAVAILABLE, 'the connection was closed before the end of the answer')));
  });
}

/** Messages travel percent-encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
