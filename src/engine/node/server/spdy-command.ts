import type { Duplex } from 'node:stream';
import type { Clock } from '../../../lib/clock.ts';
import { SpdyConnection } from '../../../lib/spdy/spdy-connection.ts';
import type { SpdyStream } from '../../../lib/spdy/spdy-stream.ts';
import { V1, V4 } from '../../../lib/channels/remote-command.ts';
import type { CommandOptions } from './command-options.ts';
import type { CommandConnection, CommandStatus } from './command-session.ts';

export const SPDY_COMMAND_PROTOCOLS = [V4, 'v3.channel.k8s.io', 'v2.channel.k8s.io', V1];
/** How long a client may take to open the streams it announced. */
const STREAMS_MS = 30_000;

/** The streams of an exec or attach over SPDY, once the client has opened all that it asked for. */
export function openSpdyCommand(
  socket: Duplex,
  head: Buffer,
  protocol: string,
  options: CommandOptions,
  clock: Clock,
): Promise<CommandConnection> {
  const streams = new Map<string, SpdyStream>();
  const resizes = options.terminal && (protocol === V4 || protocol === 'v3.channel.k8s.io');
  const expected = ['error', options.stdin && 'stdin', options.stdout && 'stdout', options.stderr && 'stderr', resizes && 'resize'].filter(
    (type) => type !== false,
  );
  return new Promise((resolve, reject) => {
    const connection = new SpdyConnection(
      socket,
      {
        role: 'server',
        clock,
        onStream(stream) {
          const type = stream.headers.streamtype;
          if (!expected.includes(type) || streams.has(type)) throw new Error(`unexpected stream type: "${type}"`);
          stream.on('error', () => {});
          streams.set(type, stream);
          if (streams.size < expected.length) return;
          timer.cancel();
          resolve(commandOf(connection, streams, protocol));
        },
      },
      head,
    );
    const timer = clock.setTimer(STREAMS_MS, () => {
      connection.close();
      reject(new Error('timed out waiting for client to create streams'));
    });
    void connection.closed.then((error) => {
      timer.cancel();
      reject(error ?? new Error('the client left before it created its streams'));
    });
  });
}

function commandOf(connection: SpdyConnection, streams: Map<string, SpdyStream>, protocol: string): CommandConnection {
  return {
    stdin: streams.get('stdin'),
    stdout: streams.get('stdout'),
    stderr: streams.get('stderr'),
    resize: streams.get('resize'),
    closed: connection.closed,
    finish(status) {
      const outputs = [streams.get('stdout'), streams.get('stderr')].filter((stream) => stream !== undefined);
      void Promise.all(outputs.map((stream) => ended(stream)))
        .then(() => ended(streams.get('error')!, statusText(status, protocol)))
        .then(() => connection.close());
    },
  };
}

function ended(stream: SpdyStream, last?: string): Promise<void> {
  return new Promise((resolve) => {
    stream.once('close', resolve);
    if (last === undefined || last === '') stream.end(resolve);
    else stream.end(last, resolve);
  });
}

/** Before v4 only failures are told, as text. */
export function statusText(status: CommandStatus, protocol: string): string {
  if (protocol.startsWith('v4.') || protocol.startsWith('v5.')) return JSON.stringify(status);
  return status.status === 'Success' ? '' : (status.message ?? 'unknown error');
}
