import {
  credentials,
  makeClientConstructor,
  Metadata,
  status,
  type Client,
  type ClientReadableStream,
  type ServiceError,
} from '@grpc/grpc-js';
import { sleep } from '../../../lib/abort.ts';
import type { Clock } from '../../../lib/clock.ts';
import {
  ExecutionState,
  Runtime,
  type ExecuteResponse,
  type HealthResponse,
  type ListResponse,
  type StatusResponse,
  type WatchEvent,
} from '../protocol/generated/executor_pb.js';
import { grpcService } from '../protocol/grpc-service.ts';
import { KEY_HEADER } from '../protocol/runtime-key.ts';
import { AttachStream, HOST_AND_PORT } from './attach-stream.ts';
import { AttachedExecutions, type Stream } from './attached-executions.ts';
import type { StreamName } from './run-log.ts';
import type { RuntimeKey } from './runtime-key.ts';

export interface ExecutionOrder {
  id: string;
  args: string[];
  env: Record<string, string>;
  workingDir: string;
  entrypoint: string;
  timeoutMs: number;
  isolation: string;
  network: boolean;
}

export interface ExecutionEnd {
  succeeded: boolean;
  exitCode: number;
  errorMessage: string;
}

/** What runtimed says to the Runtime Server of its Pod. Rejects with the errors of gRPC. */
export interface RuntimeClient {
  execute(order: ExecutionOrder, signal: AbortSignal): Promise<{ warm: boolean }>;
  /** Follows an execution to its end. */
  follow(id: string, output: (stream: StreamName, data: Uint8Array) => void, signal: AbortSignal): Promise<ExecutionEnd>;
  cancel(id: string): Promise<void>;
  forget(id: string): Promise<void>;
  list(): Promise<string[]>;
  health(): Promise<{ healthy: boolean; message: string }>;
  /** All that is known of an execution, its output included. */
  status(id: string): Promise<StatusResponse>;
  close(): void;
}

const Stub = makeClientConstructor(grpcService(Runtime), 'Runtime');
const CALL_MS = 10_000;
const QUICK_CALL_MS = 5000;
/** Only for Runtime Servers that cannot push. */
const POLL_MS = 100;

export function isGrpcError(error: unknown, code: keyof typeof status): boolean {
  return error instanceof Error && (error as ServiceError).code === status[code];
}

export function connectRuntime(endpoint: string, clock: Clock, key?: RuntimeKey): RuntimeClient {
  const client = new Stub(endpoint, credentials.createInsecure(), {
    'grpc.max_receive_message_length': -1,
    'grpc.initial_reconnect_backoff_ms': 50,
    'grpc.max_reconnect_backoff_ms': 1000,
  }) as Client & Record<string, CallableFunction>;
  let pushes = true;
  const keyHeader = (): Record<string, string> => {
    const word = key?.current();
    return word === undefined ? {} : { [KEY_HEADER]: word };
  };
  const metadata = () => {
    const headers = new Metadata({ waitForReady: true });
    for (const [name, value] of Object.entries(keyHeader())) headers.set(name, value);
    return headers;
  };

  const call = <T>(method: string, request: object, ms: number): Promise<T> =>
    new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + ms };
      client[method](request, metadata(), options, (error: ServiceError | null, value: T) => {
        if (error === null) return resolve(value);
        if (isGrpcError(error, 'UNAUTHENTICATED')) key?.refused();
        reject(error);
      });
    });

  const followInCalls: RuntimeClient['follow'] = async (id, output, signal) => {
    if (pushes) {
      const end = await watchExecution(client, id, metadata, output, signal);
      if (end !== 'unimplemented') return end;
      pushes = false;
    }
    return pollExecution(() => call('status', { id }, QUICK_CALL_MS), output, clock, signal);
  };
  const attached = new AttachedExecutions({
    open: () =>
      HOST_AND_PORT.test(endpoint) ? new AttachStream({ endpoint, headers: keyHeader, clock }) : (client['attach'](metadata()) as Stream),
    clock,
    patienceMs: CALL_MS,
    onError: (error) => {
      if (isGrpcError(error, 'UNAUTHENTICATED')) key?.refused();
    },
  });
  /** Over the one stream, or in calls of their own where the server has no such thing. */
  const either = async <T>(overStream: () => Promise<T>, inCalls: () => Promise<T>): Promise<T> => {
    if (attached.isUnimplemented) return inCalls();
    try {
      return await overStream();
    } catch (error) {
      if (!isGrpcError(error, 'UNIMPLEMENTED')) throw error;
      return inCalls();
    }
  };

  return {
    async execute({ timeoutMs, ...order }) {
      const timeouts = { timeoutMillis: BigInt(Math.ceil(timeoutMs)), timeoutSeconds: BigInt(Math.ceil(timeoutMs / 1000)) };
      const request = { ...order, ...timeouts };
      const { warm } = await either(
        () => attached.execute(order.id, request),
        () => call<ExecuteResponse>('execute', request, CALL_MS),
      );
      return { warm };
    },
    follow: (id, output, signal) =>
      either(
        async () => endOf(await attached.follow(id, output, signal)),
        () => followInCalls(id, output, signal),
      ),
    async forget(id) {
      if (attached.isUnimplemented) await call('forget', { id }, QUICK_CALL_MS);
      else attached.forget(id);
    },
    cancel: (id) => call('cancel', { id }, QUICK_CALL_MS),
    list: async () => (await call<ListResponse>('list', {}, QUICK_CALL_MS)).entries.map(({ id }) => id),
    health: async () => {
      const { healthy, message } = await call<HealthResponse>('health', {}, 2000);
      return { healthy, message };
    },
    status: (id) => call<StatusResponse>('status', { id }, QUICK_CALL_MS),
    close() {
      attached.close();
      client.close();
    },
  };
}

function endOf({ state, exitCode, errorMessage }: StatusResponse): ExecutionEnd {
  return { succeeded: state === ExecutionState.SUCCEEDED, exitCode, errorMessage };
}

/** A stream that breaks is begun again where it broke: the Runtime Server may have been restarted, which the next answer tells. */
async function watchExecution(
  client: Client & Record<string, CallableFunction>,
  id: string,
  metadata: () => Metadata,
  output: (stream: StreamName, data: Uint8Array) => void,
  signal: AbortSignal,
): Promise<ExecutionEnd | 'unimplemented'> {
  const offsets = { stdout: 0, stderr: 0 };
  for (;;) {
    const request = { id, stdoutOffset: BigInt(offsets.stdout), stderrOffset: BigInt(offsets.stderr) };
    const stream = client['watch'](request, metadata()) as ClientReadableStream<WatchEvent>;
    const stop = () => stream.cancel();
    signal.addEventListener('abort', stop, { once: true });
    try {
      for await (const { event } of stream as AsyncIterable<WatchEvent>) {
        if (event.case === 'end') return endOf(event.value);
        if (event.case !== 'output') continue;
        const name = event.value.stream as StreamName;
        offsets[name] += event.value.data.length;
        output(name, event.value.data);
      }
    } catch (error) {
      signal.throwIfAborted();
      if (isGrpcError(error, 'UNIMPLEMENTED')) return 'unimplemented';
      if (!isGrpcError(error, 'UNAVAILABLE')) throw error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }
}

/** The whole output comes with every answer; only what is new is passed on. */
async function pollExecution(
  ask: () => Promise<StatusResponse>,
  output: (stream: StreamName, data: Uint8Array) => void,
  clock: Clock,
  signal: AbortSignal,
): Promise<ExecutionEnd> {
  const seen = { stdout: 0, stderr: 0 };
  for (;;) {
    const answer = await ask().catch((error: unknown) => {
      if (isGrpcError(error, 'NOT_FOUND')) throw error;
      return undefined;
    });
    if (answer !== undefined) {
      for (const name of ['stdout', 'stderr'] as const) {
        const bytes = Buffer.from(answer[name]);
        if (bytes.length > seen[name]) output(name, bytes.subarray(seen[name]));
        seen[name] = Math.max(seen[name], bytes.length);
      }
      if (answer.state === ExecutionState.SUCCEEDED || answer.state === ExecutionState.FAILED) return endOf(answer);
    }
    await sleep(clock, POLL_MS, signal);
  }
}
