import {
  credentials,
  makeClientConstructor,
  Metadata,
  status,
  type Client,
  type ClientDuplexStream,
  type ServiceError,
} from '@grpc/grpc-js';
import { ExecutionState, Runtime, type AttachEvent, type StatusResponse, type WatchEvent } from '../../protocol/generated/executor_pb.js';
import { grpcService } from '../../protocol/grpc-service.ts';
import { KEY_HEADER } from '../../protocol/runtime-key.ts';

export type StatusCode = keyof typeof status;

/** The Runtime Server that is looked at, without any of the patience that runtimed has with one. */
export interface Peer {
  call<T = StatusResponse>(method: string, request: object): Promise<T>;
  /** The code that a call fails with; OK when it does not. */
  codeOf(method: string, request: object): Promise<StatusCode>;
  /** Everything that a watch tells; undefined where the server has no watches. */
  watch(id: string, offsets?: { stdout: number }): Promise<Watched | undefined>;
  /** What is told of each execution, all of them started over one stream; undefined where the server has no such thing. */
  attach(requests: AttachedRequest[]): Promise<Map<string, Attached> | undefined>;
  /** Asks until the execution is over. */
  end(id: string, patienceMs?: number): Promise<StatusResponse>;
  close(): void;
}

export interface Watched {
  stdout: string;
  stderr: string;
  chunks: number;
  end?: StatusResponse;
}

type AttachedRequest = { id: string } & Record<string, unknown>;

export interface Attached extends Watched {
  started: boolean;
  /** The code that it was refused with. */
  refused?: StatusCode;
}

const Stub = makeClientConstructor(grpcService(Runtime), 'Runtime');
const CALL_MS = 15_000;
const ASK_MS = 20;

export function connectPeer(address: string, key: string | undefined): Peer {
  const client = new Stub(address, credentials.createInsecure(), { 'grpc.max_receive_message_length': -1 }) as Client &
    Record<string, CallableFunction>;
  const headers = () => {
    const metadata = new Metadata();
    if (key !== undefined) metadata.set(KEY_HEADER, key);
    return metadata;
  };
  const call = <T>(method: string, request: object): Promise<T> =>
    new Promise((resolve, reject) =>
      client[method](request, headers(), { deadline: Date.now() + CALL_MS }, (error: ServiceError | null, value: T) =>
        error === null ? resolve(value) : reject(error),
      ),
    );
  return {
    call,
    async codeOf(method, request) {
      try {
        await call(method, request);
        return 'OK';
      } catch (error) {
        return codeName(error);
      }
    },
    async watch(id, { stdout } = { stdout: 0 }) {
      try {
        return await readWatch(client['watch']({ id, stdoutOffset: BigInt(stdout) }, headers()));
      } catch (error) {
        if (codeName(error) === 'UNIMPLEMENTED') return undefined;
        throw error;
      }
    },
    async attach(requests) {
      try {
        return await readAttached(client['attach'](headers(), { deadline: Date.now() + CALL_MS }), requests);
      } catch (error) {
        if (codeName(error) === 'UNIMPLEMENTED') return undefined;
        throw error;
      }
    },
    async end(id, patienceMs = CALL_MS) {
      const until = performance.now() + patienceMs;
      for (;;) {
        const now = await call<StatusResponse>('status', { id });
        if (isOver(now)) return now;
        if (performance.now() > until) throw new Error(`the execution is still ${stateName(now.state)} after ${patienceMs / 1000} s`);
        await new Promise((resolve) => setTimeout(resolve, ASK_MS));
      }
    },
    close: () => client.close(),
  };
}

export function isOver({ state }: StatusResponse): boolean {
  return state === ExecutionState.SUCCEEDED || state === ExecutionState.FAILED;
}

export function stateName(state: ExecutionState): string {
  return ExecutionState[state] ?? String(state);
}

export function codeName(error: unknown): StatusCode {
  return nameOf((error as ServiceError).code);
}

function nameOf(code: number): StatusCode {
  const codes: Record<string, string | number> = status;
  return (Object.keys(codes) as StatusCode[]).find((name) => codes[name] === code) ?? 'UNKNOWN';
}

async function readWatch(stream: AsyncIterable<WatchEvent>): Promise<Watched> {
  const result: Watched = { stdout: '', stderr: '', chunks: 0 };
  for await (const { event } of stream) {
    if (event.case === 'end') result.end = event.value;
    if (event.case !== 'output') continue;
    result.chunks++;
    result[event.value.stream as 'stdout'] += Buffer.from(event.value.data).toString();
  }
  return result;
}

async function readAttached(stream: ClientDuplexStream<object, AttachEvent>, requests: AttachedRequest[]): Promise<Map<string, Attached>> {
  const found = new Map(requests.map(({ id }): [string, Attached] => [id, { stdout: '', stderr: '', chunks: 0, started: false }]));
  for (const value of requests) stream.write({ request: { case: 'execute', value } });
  let left = requests.length;
  for await (const { id, event } of stream as AsyncIterable<AttachEvent>) {
    const one = found.get(id);
    if (one === undefined) throw new Error(`an event is about "${id}", which nobody asked for`);
    if (event.case === 'started') one.started = true;
    if (event.case === 'output') one[event.value.stream as 'stdout'] += Buffer.from(event.value.data).toString();
    if (event.case === 'end') one.end = event.value;
    if (event.case === 'refused') one.refused = nameOf(event.value.code);
    if ((event.case === 'end' || event.case === 'refused') && --left === 0) break;
  }
  stream.end();
  return found;
}
