import type { Readable, Writable } from 'node:stream';
import type { Status } from '../../../kube/status.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { ProgramStreams } from '../shim/shim.ts';
import { asStatusError } from './refusal.ts';
import { TerminalSizes } from './terminal-size.ts';

/** The client's side of an exec or attach, whichever protocol carries it. Streams that were not asked for are absent. */
export interface CommandConnection {
  stdin?: Readable;
  stdout?: Writable;
  stderr?: Writable;
  resize?: Readable;
  /** Tells how it ended, after all output, and closes. */
  finish(status: CommandStatus): void;
  /** Resolves when the connection is over, whoever ended it. */
  closed: Promise<unknown>;
}

export type CommandStatus = Omit<Status, 'kind' | 'apiVersion' | 'code'> & { code?: number };

/** How long output may stand still after the end of a program whose children keep its streams open. */
const QUIET_MS = 2000;

/** Connects a program with its client until one of them ends. */
export async function runSession(
  program: ProgramStreams,
  connection: CommandConnection,
  options: { clock: Clock; reportsExitCode: boolean },
): Promise<void> {
  let isGone = false;
  void connection.closed.then(() => {
    isGone = true;
    program.close();
  });
  feed(connection.stdin, program.stdin);
  const sizes = new TerminalSizes((columns, rows) => program.resize(columns, rows));
  connection.resize?.on('data', (chunk: Buffer) => sizes.push(chunk)).on('error', () => {});
  const outputs = [carry(program.stdout, connection.stdout, options.clock), carry(program.stderr, connection.stderr, options.clock)];
  let status: CommandStatus;
  try {
    const { exitCode } = await program.ended;
    await Promise.all(outputs.map((output) => output.drained()));
    status = exitCode === 0 || !options.reportsExitCode ? { metadata: {}, status: 'Success' } : exitStatus(exitCode);
  } catch (error) {
    ({ status } = asStatusError(error));
  }
  if (!isGone) connection.finish(status);
  await connection.closed;
}

export function exitStatus(exitCode: number): CommandStatus {
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}

function feed(source: Readable | undefined, sink: Writable | undefined): void {
  source?.on('error', () => {});
  sink?.on('error', () => source?.resume());
  if (source === undefined) sink?.end();
  else if (sink === undefined) source.resume();
  else source.pipe(sink);
}

interface Carried {
  /** Resolves when the program's output has ended and is handed over, or has been silent for a while. To be called after its end. */
  drained(): Promise<void>;
}

function carry(source: Readable | undefined, sink: Writable | undefined, clock: Clock): Carried {
  if (source === undefined) return { drained: () => Promise.resolve() };
  let moved = 0;
  let isWaiting = false;
  source.on('data', (chunk: Buffer) => {
    moved += chunk.length;
    // The program goes on as if somebody read it, also when nobody does any more.
    if (sink === undefined || sink.destroyed || sink.writableEnded || sink.write(chunk) || isWaiting) return;
    isWaiting = true;
    source.pause();
    const resume = (): void => {
      isWaiting = false;
      sink.off('drain', resume).off('close', resume);
      source.resume();
    };
    sink.on('drain', resume).on('close', resume);
  });
  sink?.on('error', () => {});
  const ended = new Promise<void>((resolve) => {
    if (source.readableEnded || source.destroyed) resolve();
    source
      .once('end', resolve)
      .once('close', resolve)
      .once('error', () => resolve());
  });
  const quiet = async (): Promise<void> => {
    for (;;) {
      const before = moved;
      await new Promise<void>((resolve) => void clock.setTimer(QUIET_MS, resolve));
      if (moved === before && !isWaiting) return;
    }
  };
  return { drained: () => Promise.race([ended, quiet()]) };
}
