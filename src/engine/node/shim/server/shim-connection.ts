import type { Socket } from 'node:net';
import type { Clock } from '../../../../lib/clock.ts';
import type { LaunchTools } from '../program/launch.ts';
import type { Programs } from '../program/programs.ts';
import { ShimError } from '../shim.ts';
import { encodeData, encodeMessage, FrameReader, type Frame } from '../wire/frames.ts';
import type { ClientMessage, ServerMessage } from '../wire/messages.ts';
import { attachSession, endedSession, runSession, type ProgramSession, type SessionWire } from './program-session.ts';

export interface ConnectionOptions extends LaunchTools {
  programs: Programs;
  clock: Clock;
  warn: (message: string) => void;
  /** The client wants the shim to end, if nothing keeps it. */
  onEndIfIdle: () => void;
}

type Call = Extract<ClientMessage, { type: 'call' }>;

/** Answers one client. */
export class ShimConnection {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #sessions = new Map<number, ProgramSession>();
  #closed = false;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    const reader = new FrameReader();
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const frame of reader.push(chunk)) this.#take(frame);
      } catch (error) {
        options.warn(`Cannot go on with a client: ${(error as Error).message}`);
        socket.destroy();
      }
    });
    socket.on('error', () => undefined);
    socket.once('close', () => this.#close());
  }

  #take(frame: Frame): void {
    if (frame.kind === 'data') {
      this.#sessions.get(frame.session)?.input(frame.bytes);
      return;
    }
    const message = frame.message as ClientMessage;
    switch (message.type) {
      case 'call':
        void this.#answer(message);
        break;
      case 'consumed':
        this.#sessions.get(message.session)?.consumed(message.stream, message.bytes);
        break;
      case 'resize':
        this.#sessions.get(message.session)?.resize(message.columns, message.rows);
        break;
      case 'close':
        this.#sessions.get(message.session)?.close();
        this.#sessions.delete(message.session);
        break;
    }
  }

  async #answer(call: Call): Promise<void> {
    try {
      const value = await this.#perform(call);
      this.#send({ type: 'result', number: call.number, value });
      this.#sessions.get(call.number)?.begin();
    } catch (error) {
      const code = error instanceof ShimError ? error.code : 'StartFailed';
      if (!(error instanceof ShimError)) this.#options.warn(`Cannot ${call.name}: ${String((error as Error).stack ?? error)}`);
      this.#send({ type: 'failure', number: call.number, code, message: (error as Error).message });
    }
  }

  async #perform(call: Call): Promise<unknown> {
    const { programs } = this.#options;
    switch (call.name) {
      case 'start':
        return programs.start(call.parameters);
      case 'list':
        return programs.list();
      case 'ended':
        return programs.ended(call.parameters.id);
      case 'signal':
        programs.signal(call.parameters.id, call.parameters.signal, call.parameters.group);
        return null;
      case 'reopenLog':
        await programs.reopenLog(call.parameters.id);
        return null;
      case 'forget':
        programs.forget(call.parameters.id);
        return null;
      case 'endIfIdle':
        this.#options.onEndIfIdle();
        return null;
      case 'attach':
      case 'run':
        return this.#open(call.number, await this.#session(call));
    }
    // The shim may be older than the agent: it was started before an upgrade.
    throw new ShimError('StartFailed', `Cannot ${(call as Call).name}: the shim does not know how; end its programs to replace it`);
  }

  async #session(call: Extract<Call, { name: 'attach' | 'run' }>): Promise<ProgramSession> {
    const wire = this.#wire(call.number);
    if (call.name === 'run') return runSession(call.parameters, this.#options, wire);
    const end = this.#options.programs.endOf(call.parameters.id);
    return end === undefined ? attachSession(this.#options.programs.running(call.parameters.id), wire) : endedSession(end, wire);
  }

  #open(number: number, session: ProgramSession): ProgramSession['opened'] {
    // The client may have gone while its program was started.
    if (this.#closed) session.close();
    else this.#sessions.set(number, session);
    return session.opened;
  }

  #wire(session: number): SessionWire {
    return {
      data: (stream, bytes) => this.#write(encodeData(session, stream, bytes)),
      consumed: (bytes) => this.#send({ type: 'consumed', session, stream: 0, bytes }),
      ended: (end) => this.#send({ type: 'ended', session, ...end }),
    };
  }

  #send(message: ServerMessage): void {
    this.#write(encodeMessage(message));
  }

  #write(frame: Buffer): void {
    if (!this.#closed) this.#socket.write(frame);
  }

  #close(): void {
    this.#closed = true;
    for (const session of this.#sessions.values()) session.close();
    this.#sessions.clear();
  }
}
