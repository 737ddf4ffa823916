import { credentials, makeClientConstructor, Metadata, status, type Client, type ServiceError } from '@grpc/grpc-js';
import { ExecutionState, Runtime, type StatusResponse, type WatchEvent } from '../../protocol/generated/executor_pb.js';
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
  const { code } = error as ServiceError;
  return (Object.keys(status) as StatusCode[]).find((name) => status[name] === code) ?? 'UNKNOWN';
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
