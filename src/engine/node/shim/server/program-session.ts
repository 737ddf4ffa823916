import type { Clock } from '../../../../lib/clock.ts';
import type { LogStream } from '../log/cri-lines.ts';
import { exitCodeOf } from '../program/exit-code.ts';
import { launch, type LaunchTools } from '../program/launch.ts';
import { Outputs } from '../program/outputs.ts';
import type { Program } from '../program/program.ts';
import { killSession } from '../program/session.ts';
import type { ProgramEnds } from '../program/stdio.ts';
import type { TransientProgram } from '../shim.ts';
import type { StreamNumber } from '../wire/frames.ts';
import type { OpenedStreams } from '../wire/messages.ts';
import { SendWindow } from '../wire/send-window.ts';

/** Where the streams of one client's attach or run go. */
export interface SessionWire {
  data(stream: StreamNumber, bytes: Uint8Array): void;
  /** The program has taken so much of its input. */
  consumed(bytes: number): void;
  ended(end: { exitCode: number; signal?: NodeJS.Signals }): void;
}

/** The streams between one client and one program. */
export interface ProgramSession {
  readonly opened: OpenedStreams;
  /** Begins to send, after the client knows of the session. */
  begin(): void;
  /** Input from the client; empty is its end. */
  input(bytes: Buffer): void;
  /** The client has read so much of an output. */
  consumed(stream: StreamNumber, bytes: number): void;
  resize(columns: number, rows: number): void;
  /** The client is gone. */
  close(): void;
}

/** What a slow client may fall behind before it misses output. */
const MAX_BEHIND_BYTES = 1024 * 1024;
/** What a terminal takes for the end of its input. */
const END_OF_TRANSMISSION = Buffer.from([4]);

type Windows = Record<LogStream, SendWindow> & {
  /** Ends both outputs and, when the client has them whole, tells the end. */
  end(end: { exitCode: number; signal?: NodeJS.Signals }): void;
};

function openWindows(wire: SessionWire, onRoom: (stream: LogStream) => void): Windows {
  let open = 2;
  let told: Parameters<SessionWire['ended']>[0] | undefined;
  const onEnd = () => {
    open--;
    if (open === 0 && told !== undefined) wire.ended(told);
  };
  const stdout = new SendWindow({ write: (bytes) => wire.data(1, bytes), onRoom: () => onRoom('stdout'), onEnd });
  const stderr = new SendWindow({ write: (bytes) => wire.data(2, bytes), onRoom: () => onRoom('stderr'), onEnd });
  return {
    stdout,
    stderr,
    end({ exitCode, signal }) {
      told = { exitCode, signal };
      stdout.end();
      stderr.end();
    },
  };
}

function outputNamed(stream: StreamNumber): LogStream {
  return stream === 2 ? 'stderr' : 'stdout';
}

function writeInput(ends: ProgramEnds, bytes: Buffer, wire: SessionWire): void {
  // A program that has closed its input does not care: the bytes count as taken, so that the client does not hang.
  if (ends.stdin === undefined || !ends.stdin.writable) wire.consumed(bytes.length);
  else ends.stdin.write(bytes, () => wire.consumed(bytes.length));
}

function endInput(ends: ProgramEnds, terminal: boolean): void {
  if (ends.stdin === undefined || !ends.stdin.writable) return;
  // A terminal is one stream for both ways, so closing it would end the output too.
  if (terminal) ends.stdin.write(END_OF_TRANSMISSION);
  else ends.stdin.end();
}

/** To a program that runs already. A client that reads too slowly misses output, and is told so: the log must not wait for it. */
export function attachSession(program: Program, wire: SessionWire): ProgramSession {
  const { spec, ends } = program;
  const missed: Record<LogStream, number> = { stdout: 0, stderr: 0 };
  const tellMissed = (stream: LogStream) => {
    if (missed[stream] === 0) return;
    windows[stream].send(Buffer.from(`\n[tenantry: ${missed[stream]} bytes of output left out, this client reads too slowly]\n`));
    missed[stream] = 0;
  };
  const windows = openWindows(wire, tellMissed);
  let usedInput = false;
  let stopListening = () => {};
  return {
    opened: { stdin: ends.stdin !== undefined, stderr: ends.stderr !== undefined },
    begin() {
      stopListening = program.listen((stream, bytes) => {
        if (windows[stream].queuedBytes > MAX_BEHIND_BYTES) missed[stream] += bytes.length;
        else windows[stream].send(bytes);
      });
      void program.ended.then((end) => {
        tellMissed('stdout');
        tellMissed('stderr');
        windows.end(end);
      });
    },
    input(bytes) {
      usedInput = true;
      if (bytes.length > 0) writeInput(ends, bytes, wire);
      else if (spec.stdinOnce) endInput(ends, spec.terminal);
    },
    consumed: (stream, bytes) => windows[outputNamed(stream)].consumed(bytes),
    resize: (columns, rows) => ends.resize(columns, rows),
    close() {
      stopListening();
      if (usedInput && spec.stdinOnce) endInput(ends, spec.terminal);
    },
  };
}

/** A program of the client's own: it runs at the pace of the client and ends with it. */
export async function runSession(
  spec: TransientProgram,
  tools: LaunchTools & { clock: Clock },
  wire: SessionWire,
): Promise<ProgramSession> {
  const { pid, ends, exited } = await launch(spec, tools);
  const outputs = new Outputs(ends);
  const windows = openWindows(wire, () => {
    if (windows.stdout.queuedBytes === 0 && windows.stderr.queuedBytes === 0) outputs.resume();
  });
  let running = true;
  let gone = false;
  ends.stdin?.on('error', () => undefined);
  const finish = async () => {
    const status = await exited;
    running = false;
    await outputs.drain(tools.clock);
    ends.stdin?.destroy();
    if (gone) return;
    windows.end(exitCodeOf(status));
  };
  return {
    opened: { stdin: ends.stdin !== undefined, stderr: ends.stderr !== undefined },
    begin() {
      outputs.read((stream, bytes) => gone || windows[stream].send(bytes));
      void finish();
    },
    input(bytes) {
      if (bytes.length > 0) writeInput(ends, bytes, wire);
      else endInput(ends, spec.terminal);
    },
    consumed: (stream, bytes) => windows[outputNamed(stream)].consumed(bytes),
    resize: (columns, rows) => ends.resize(columns, rows),
    close() {
      gone = true;
      outputs.resume();
      if (running) void killSession(pid);
    },
  };
}

/** For a program that has ended already: nothing to read, and the end. */
export function endedSession(end: { exitCode: number; signal?: NodeJS.Signals }, wire: SessionWire): ProgramSession {
  return {
    opened: { stdin: false, stderr: true },
    begin() {
      wire.data(1, new Uint8Array());
      wire.data(2, new Uint8Array());
      wire.ended({ exitCode: end.exitCode, signal: end.signal });
    },
    input: (bytes) => wire.consumed(bytes.length),
    consumed() {},
    resize() {},
    close() {},
  };
}
