import { status } from '@grpc/grpc-js';
import type { Clock, Timer } from '../../../lib/clock.ts';
import type { AttachEvent, ExecuteResponse, StatusResponse } from '../protocol/generated/executor_pb.js';
import { callError, type CallError } from './call-error.ts';
import type { StreamName } from './run-log.ts';

/** What is used of a stream of `Attach`. */
export interface Stream {
  write(request: object): unknown;
  end(): unknown;
  on(event: 'data', listener: (event: AttachEvent) => void): unknown;
  on(event: 'error', listener: (error: CallError) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
}

const { UNAVAILABLE, UNIMPLEMENTED }: Record<string, string | number> = status;
type Output = (stream: StreamName, data: Uint8Array) => void;

/** One execution, as far as we have heard of it. */
interface Attached {
  /** Set until it has started: what is said of its id before that is about one that it replaces. */
  starting?: { resolve(answer: ExecuteResponse): void; reject(error: Error): void; timer: Timer };
  /** How much of each stream has come. */
  offsets: Record<StreamName, number>;
  /** What came before somebody listened. */
  early: AttachEvent['event'][];
  listen?(event: AttachEvent['event'] | { case: 'broken'; value: CallError }): void;
}

export interface AttachedExecutionsOptions {
  open(): Stream;
  clock: Clock;
  /** How long a start may take. */
  patienceMs: number;
  onError(error: CallError): void;
}

/**
 * All executions over one stream, which is opened when it is needed and opened again when it broke. A start that was under way when it
 * broke fails, since nobody knows what became of it; an execution that has started is watched on from where its output had come to.
 */
export class AttachedExecutions {
  readonly #options: AttachedExecutionsOptions;
  readonly #known = new Map<string, Attached>();
  #stream: Stream | undefined;
  #unimplemented = false;

  constructor(options: AttachedExecutionsOptions) {
    this.#options = options;
  }

  /** The server has no such method: executions are spoken of in calls of their own. */
  get isUnimplemented(): boolean {
    return this.#unimplemented;
  }

  execute(id: string, request: object): Promise<ExecuteResponse> {
    return new Promise((resolve, reject) => {
      const { clock, patienceMs } = this.#options;
      const timer = clock.setTimer(patienceMs, () => this.#refuse(id, status.DEADLINE_EXCEEDED, 'Deadline exceeded'));
      this.#known.set(id, { starting: { resolve, reject, timer }, offsets: { stdout: 0, stderr: 0 }, early: [] });
      this.#send({ case: 'execute', value: request });
    });
  }

  /** @returns how it ended. Rejects when the server does not know it, or the signal fires */
  async follow(id: string, output: Output, signal: AbortSignal): Promise<StatusResponse> {
    if (!this.#known.has(id)) this.#watch(id, { offsets: { stdout: 0, stderr: 0 }, early: [] });
    for (;;) {
      const end = await this.#next(id, this.#known.get(id)!, output, signal);
      if (end !== undefined) return end;
    }
  }

  forget(id: string): void {
    this.#send({ case: 'forget', value: { id } });
  }

  close(): void {
    this.#stream?.end();
  }

  /** @returns undefined when the stream broke, and was opened again */
  #next(id: string, attached: Attached, output: Output, signal: AbortSignal): Promise<StatusResponse | undefined> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        signal.removeEventListener('abort', abandon);
        attached.listen = undefined;
      };
      const abandon = () => {
        leave();
        this.#known.delete(id);
        reject(signal.reason as Error);
      };
      attached.listen = (event) => {
        if (event.case === 'output') return output(event.value.stream as StreamName, event.value.data);
        if (event.case !== 'end' && event.case !== 'refused' && event.case !== 'broken') return;
        leave();
        this.#known.delete(id);
        if (event.case === 'end') return resolve(event.value);
        if (event.case === 'refused') return reject(callError(event.value.code, event.value.message));
        if (this.#unimplemented || event.value.code !== UNAVAILABLE) return reject(event.value);
        this.#watch(id, { offsets: attached.offsets, early: [] });
        resolve(undefined);
      };
      if (signal.aborted) return abandon();
      signal.addEventListener('abort', abandon, { once: true });
      for (const event of attached.early.splice(0)) attached.listen?.(event);
    });
  }

  #watch(id: string, attached: Attached): void {
    const { stdout, stderr } = attached.offsets;
    this.#known.set(id, attached);
    this.#send({ case: 'watch', value: { id, stdoutOffset: BigInt(stdout), stderrOffset: BigInt(stderr) } });
  }

  #send(request: { case: string; value: object }): void {
    (this.#stream ??= this.#open()).write({ request });
  }

  #open(): Stream {
    const stream = this.#options.open();
    const broke = (error: CallError) => {
      if (this.#stream === stream) this.#broken(error);
    };
    stream.on('data', (event: AttachEvent) => this.#heard(event));
    stream.on('error', broke);
    stream.on('end', () => broke(callError(status.UNAVAILABLE, 'the Runtime Server ended the stream')));
    return stream;
  }

  #heard({ id, event }: AttachEvent): void {
    const attached = this.#known.get(id);
    if (attached === undefined) return;
    if (attached.starting !== undefined) {
      if (event.case === 'refused') this.#refuse(id, event.value.code, event.value.message);
      if (event.case !== 'started') return;
      const { resolve, timer } = attached.starting;
      attached.starting = undefined;
      timer.cancel();
      return resolve(event.value);
    }
    if (event.case === 'output') attached.offsets[event.value.stream as StreamName] += event.value.data.length;
    if (attached.listen !== undefined) attached.listen(event);
    else attached.early.push(event);
  }

  #refuse(id: string, code: number, message: string): void {
    const { starting } = this.#known.get(id) ?? {};
    if (starting === undefined) return;
    this.#known.delete(id);
    starting.timer.cancel();
    starting.reject(callError(code, message));
  }

  #broken(error: CallError): void {
    this.#stream = undefined;
    if (error.code === UNIMPLEMENTED) this.#unimplemented = true;
    this.#options.onError(error);
    // Those that are watched on come back as new ones.
    const known = Array.from(this.#known);
    for (const [id, attached] of known) {
      if (attached.starting !== undefined) this.#refuse(id, error.code, error.details);
      else if (attached.listen !== undefined) attached.listen({ case: 'broken', value: error });
      else this.#known.delete(id);
    }
  }
}
