import type { Duplex } from 'node:stream';
import type { Clock, Timer } from '../../../lib/clock.ts';
import { SpdyConnection } from '../../../lib/spdy/spdy-connection.ts';
import type { SpdyStream } from '../../../lib/spdy/spdy-stream.ts';
import type { PodAccess, PodTarget } from './pod-access.ts';
import { forwardPort } from './port-forward.ts';

const STREAMS_MS = 30_000;

interface Pair {
  data?: SpdyStream;
  error?: SpdyStream;
  timer: Timer;
}

/** Each connection of the client is a pair of streams, one for the data and one for what goes wrong, with the same request id. */
export function servePortForward(
  socket: Duplex,
  head: Buffer,
  access: Pick<PodAccess, 'dial'>,
  target: PodTarget,
  clock: Clock,
): Promise<unknown> {
  const pairs = new Map<string, Pair>();
  const connection = new SpdyConnection(socket, { role: 'server', clock, onStream: (stream) => add(stream) }, head);
  void connection.closed.then(() => {
    for (const { timer } of pairs.values()) timer.cancel();
  });
  return connection.closed;

  function add(stream: SpdyStream): void {
    const port = portOf(stream);
    const type = stream.headers.streamtype;
    if (type !== 'data' && type !== 'error') throw new Error(`invalid stream type "${type ?? ''}"`);
    const id = requestId(stream, type);
    const pair = pairs.get(id) ?? begin(id);
    if (pair[type] !== undefined) throw new Error(`${type} stream already assigned`);
    stream.on('error', () => {});
    pair[type] = stream;
    if (pair.data === undefined || pair.error === undefined) return;
    pairs.delete(id);
    pair.timer.cancel();
    void forward(port, pair.data, pair.error);
  }

  function begin(id: string): Pair {
    const timer = clock.setTimer(STREAMS_MS, () => {
      const late = pairs.get(id);
      pairs.delete(id);
      late?.error?.end(`request=${id} timed out waiting for streams`);
      late?.data?.destroy();
    });
    const pair: Pair = { timer };
    pairs.set(id, pair);
    return pair;
  }

  async function forward(port: number, data: SpdyStream, error: SpdyStream): Promise<void> {
    try {
      await forwardPort(access, target, port, data, error);
      data.end();
      error.end();
      // The client says nothing on it; its direction would stay open for as long as the connection.
      error.resume();
    } catch {
      data.destroy();
      error.end(() => error.destroy());
    }
  }
}

function portOf({ headers }: SpdyStream): number {
  const port = Number(headers.port);
  if (!/^\d+$/.test(headers.port ?? '') || port < 1 || port > 0xffff) throw new Error(`unable to parse "${headers.port}" as a port`);
  return port;
}

/** Old clients give none: theirs open the data stream right after the one for errors. */
function requestId({ headers, id }: SpdyStream, type: 'data' | 'error'): string {
  return headers.requestid ?? String(type === 'error' ? id : id - 2);
}
