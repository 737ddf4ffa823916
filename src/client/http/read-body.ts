import { Transform, type Readable } from 'node:stream';
import type { WatchEvent } from '../../kube/watch-event.ts';
import { errorText } from '../../lib/log.ts';
import { abortedError, TransportError } from '../transport-error.ts';
import type { HttpAnswer } from './exchange.ts';

/** The whole answer: a value for JSON, text for anything else. */
export async function readBody(answer: HttpAnswer, signal: AbortSignal | undefined): Promise<unknown> {
  let bytes: Buffer;
  try {
    bytes = await wholeBody(answer.body);
  } catch (error) {
    throw signal?.aborted ? abortedError(signal) : cut(error);
  }
  if (signal?.aborted) throw abortedError(signal);
  const length = answer.headers['content-length'];
  if (!answer.complete() || (length !== undefined && bytes.length !== Number(length))) throw cut(undefined);
  const text = bytes.toString('utf8');
  if (!(answer.headers['content-type'] ?? '').includes('json')) return text;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new TransportError('BadResponse', `Cannot read the answer: ${errorText(error)}`, { cause: error });
  }
}

/** By events: an iterator over a stream costs more than reading a small answer. Whether it is whole is known when it is closed, not before. */
function wholeBody(body: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const closed = () => {
      if (!body.readableEnded) return reject(body.errored ?? new Error('the answer ended too early'));
      resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
    };
    if (body.destroyed) return closed();
    body.on('data', (chunk: Buffer) => chunks.push(chunk));
    body.once('error', reject);
    body.once('close', closed);
  });
}

/** The answer as it comes. */
export function bodyStream(answer: HttpAnswer, signal: AbortSignal | undefined): Readable {
  const broken = (cause?: unknown): TransportError => (signal?.aborted ? abortedError(signal) : cut(cause));
  const stream = new Transform({
    transform: (chunk, _encoding, done) => done(null, chunk),
    flush: (done) => done(signal?.aborted || !answer.complete() ? broken() : null),
  });
  answer.body.on('error', (error) => stream.destroy(broken(error)));
  answer.body.once('close', () => {
    if (!stream.writableEnded) stream.destroy(broken());
  });
  stream.once('close', () => answer.body.destroy());
  return answer.body.pipe(stream);
}

/** The events of a watch, one JSON document per line. Ends when the server ends it or the signal fires. */
export async function* readEvents(answer: HttpAnswer, signal: AbortSignal | undefined): AsyncGenerator<WatchEvent, void, void> {
  let rest: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of answer.body) {
      let data = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
      for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10)) {
        const line = data.toString('utf8', 0, end);
        data = data.subarray(end + 1);
        if (line.trim() !== '') yield parseEvent(line);
      }
      rest = data;
    }
  } catch (error) {
    if (signal?.aborted) return;
    throw error instanceof TransportError ? error : cut(error);
  } finally {
    answer.body.destroy();
  }
  if (!signal?.aborted && !answer.complete()) throw cut(undefined);
}

function parseEvent(line: string): WatchEvent {
  try {
    return JSON.parse(line) as WatchEvent;
  } catch (error) {
    throw new TransportError('BadResponse', `Cannot read a watch event: ${errorText(error)}`, { cause: error });
  }
}

function cut(cause: unknown): TransportError {
  return new TransportError('ConnectionLost', 'the connection broke during the answer', { cause });
}
