import type { Readable, Writable } from 'node:stream';
import { StatusError, type Status } from '../../kube/status.ts';
import { ChannelConnection, type ChannelEnd } from '../../lib/channels/channel-connection.ts';
import { CHANNEL, V4, V5 } from '../../lib/channels/remote-command.ts';
import { TransportError } from '../transport-error.ts';
import type { ConnectedSocket, Transport } from '../transport.ts';
import { messageSocket } from './message-socket.ts';
import { podPath, type PodName } from './pod-logs.ts';

export interface AttachRequest {
  container?: string;
  /** Whether something will be written to its input. */
  stdin?: boolean;
  /** With a terminal there is one output, and a size. */
  terminal?: boolean;
  signal?: AbortSignal;
}

export interface ExecRequest extends AttachRequest {
  command: string[];
}

/** A program in a container. Its outputs have to be read (or resumed): the end is told after them. */
export interface RemoteCommand {
  /** Ending it is the end of input for the program. */
  stdin?: Writable;
  stdout: Readable;
  stderr?: Readable;
  /** Resolves to the exit code; rejects with a StatusError when it could not be run, with a TransportError when the connection broke. */
  exit: Promise<number>;
  resize(columns: number, rows: number): void;
  close(): void;
}

/** Runs a command in a container. @throws StatusError, TransportError */
export function podExec(transport: Transport, pod: PodName, request: ExecRequest): Promise<RemoteCommand> {
  return open(transport, podPath(pod, 'exec'), request, { command: request.command });
}

/** Connects with the program that a container runs. @throws StatusError, TransportError */
export function podAttach(transport: Transport, pod: PodName, request: AttachRequest = {}): Promise<RemoteCommand> {
  return open(transport, podPath(pod, 'attach'), request, {});
}

async function open(
  transport: Transport,
  path: string,
  { container, stdin = false, terminal = false, signal }: AttachRequest,
  more: { command?: string[] },
): Promise<RemoteCommand> {
  const query = {
    ...more,
    container,
    stdin: String(stdin),
    stdout: 'true',
    stderr: String(!terminal),
    tty: String(terminal),
  };
  const { webSocket, protocol } = await connectSocket(transport, path, query, [V5, V4], signal);
  const connection = new ChannelConnection(messageSocket(webSocket), {
    encoding: 'binary',
    closeSignal: protocol === V5 ? 'send' : 'none',
  });
  const errors = connection.readable(CHANNEL.error);
  const sizes = connection.writable(CHANNEL.resize);
  sizes.on('error', () => {});
  const command: RemoteCommand = {
    stdin: stdin ? connection.writable(CHANNEL.stdin) : undefined,
    stdout: connection.readable(CHANNEL.stdout),
    stderr: terminal ? undefined : connection.readable(CHANNEL.stderr),
    exit: exitOf(errors, connection.closed),
    resize: (columns, rows) => void sizes.write(JSON.stringify({ Width: columns, Height: rows })),
    close: () => webSocket.terminate(),
  };
  // Whoever does not ask for it must not be ended by it.
  command.exit.catch(() => {});
  webSocket.resume();
  return command;
}

export async function connectSocket(
  transport: Transport,
  path: string,
  query: Record<string, string | string[] | undefined>,
  protocols: string[],
  signal: AbortSignal | undefined,
): Promise<ConnectedSocket> {
  if (transport.connect === undefined) {
    throw new TransportError('BadConfig', `Cannot connect to "${path}": this transport has no WebSockets; use one over HTTP`);
  }
  return transport.connect({ method: 'GET', path, query, signal }, protocols);
}

async function exitOf(errors: Readable, closed: Promise<ChannelEnd>): Promise<number> {
  let text = '';
  for await (const chunk of errors) text += String(chunk);
  if (text === '') {
    const { code, reason } = await closed;
    throw new TransportError('ConnectionLost', `the connection was closed before the end of the program was told: ${reason || code}`);
  }
  let status: Status;
  try {
    status = JSON.parse(text) as Status;
  } catch (error) {
    throw new TransportError('BadResponse', `Cannot read how the program ended: ${text.slice(0, 200)}`, { cause: error });
  }
  if (status.status === 'Success') return 0;
  const exitCode =
    status.reason === 'NonZeroExitCode' ? status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message : undefined;
  if (exitCode === undefined) throw new StatusError(status);
  return Number(exitCode);
}
