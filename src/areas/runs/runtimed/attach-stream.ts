import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { EventEmitter } from 'node:events';
import { connect, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { Backoff } from '../../../lib/backoff.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import { AttachEventSchema, AttachRequestSchema, type AttachEvent } from '../protocol/generated/executor_pb.js';
import { framed, MessageFrames } from '../protocol/message-frames.ts';
import { callError, type CallError } from './call-error.ts';

/** Other addresses that gRPC knows are left to it. */
export const HOST_AND_PORT = /^(\[[\da-f:.]+\]|[\w.-]+):\d+$/i;

export interface AttachStreamOptions {
  /** Host and port. */
  endpoint: string;
  /** Asked for each connection. */
  headers(): Record<string, string>;
  clock: Clock;
}

const PATH = '/executor.v1.Runtime/Attach';
/** As it stands in the header. */
const OK = String(status.OK);
const RECONNECT = { initialMs: 50, maxMs: 1000 };

/**
 * The stream of `Attach` on a connection of its own: what a call of grpc-js would be, without the layers that each message passes there,
 * and with all that is said in one turn of the event loop in one piece. A server that is not there yet is waited for.
 */
export class AttachStream extends EventEmitter<{ data: [AttachEvent]; error: [CallError]; end: [] }> {
  readonly #options: AttachStreamOptions;
  readonly #backoff = new Backoff(RECONNECT);
  readonly #frames = new MessageFrames();
  #session: ClientHttp2Session | undefined;
  #stream: ClientHttp2Stream | undefined;
  #retry: Timer | undefined;
  /** What is to be said, in frames. */
  #unsaid: Buffer[] = [];
  #isFlushing = false;
  #isEnding = false;
  #isOver = false;
  /** What the server said of how it ended. */
  #status: IncomingHttpHeaders = {};

  constructor(options: AttachStreamOptions) {
    super();
    this.#options = options;
    this.#connect();
  }

  write(request: object): void {
    this.#unsaid.push(framed(toBinary(AttachRequestSchema, create(AttachRequestSchema, request))));
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => this.#flush());
  }

  /** Nothing more is said. */
  end(): void {
    this.#isEnding = true;
    if (this.#stream === undefined) return this.#over(undefined);
    this.#flush();
    this.#stream.end();
  }

  #connect(): void {
    const { origin, hostname, port } = new URL(`http://${this.#options.endpoint}`);
    const host = hostname.replace(/^\[|\]$/g, '');
    const createConnection = () => connectTcp({ host, port: Number(port || 80), noDelay: true });
    const session = connect(origin, { createConnection, settings: { enablePush: false } });
    this.#session = session;
    session.once('connect', () => this.#begin(session));
    // What it was is told by the close, which always follows.
    session.on('error', () => {});
    session.once('close', () => this.#lost());
  }

  #begin(session: ClientHttp2Session): void {
    const headers = { ':method': 'POST', ':path': PATH, te: 'trailers', 'content-type': 'application/grpc+proto' };
    const stream = session.request({ ...headers, ...this.#options.headers() });
    this.#stream = stream;
    stream.once('response', (head) => (this.#status = head));
    stream.once('trailers', (trailers) => (this.#status = { ...this.#status, ...trailers }));
    stream.on('data', (data: Buffer) => this.#heard(data));
    stream.on('error', () => {});
    // A server that has ended its side may leave it to us to end the whole.
    stream.once('end', () => stream.close());
    stream.once('close', () => this.#over(endOf(this.#status)));
    this.#flush();
  }

  /** Before there was a stream that is tried again; one that was there tells its end itself. */
  #lost(): void {
    if (this.#isOver || this.#stream !== undefined) return;
    this.#retry = this.#options.clock.setTimer(this.#backoff.next(), () => this.#connect());
  }

  #flush(): void {
    this.#isFlushing = false;
    if (this.#stream === undefined || this.#unsaid.length === 0 || this.#stream.writableEnded || this.#stream.destroyed) return;
    const frames = this.#unsaid;
    this.#unsaid = [];
    this.#stream.write(frames.length === 1 ? frames[0] : Buffer.concat(frames));
  }

  #heard(data: Buffer): void {
    let events: AttachEvent[];
    try {
      events = this.#frames.push(data).map((message) => fromBinary(AttachEventSchema, message));
    } catch (error) {
      return this.#over(callError(status.INTERNAL, error instanceof Error ? error.message : String(error)));
    }
    for (const event of events) if (!this.#isOver) this.emit('data', event);
  }

  #over(error: CallError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#retry?.cancel();
    this.#session?.destroy();
    if (error === undefined || this.#isEnding) this.emit('end');
    else this.emit('error', error);
  }
}

/** @returns undefined when it ended well */
function endOf(head: IncomingHttpHeaders): CallError | undefined {
  const said = head['grpc-status'];
  if (said === undefined) {
    const answer = Number(head[':status'] ?? 200);
    const code = answer === 404 ? status.UNIMPLEMENTED : answer === 401 ? status.UNAUTHENTICATED : status.UNAVAILABLE;
    return callError(code, answer === 200 ? 'Connection dropped' : `the Runtime Server answers ${answer}`);
  }
  if (String(said) === OK) return undefined;
  return callError(Number(said), textOf(String(head['grpc-message'] ?? '')));
}

function textOf(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
