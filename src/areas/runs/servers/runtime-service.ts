import { createHash, timingSafeEqual } from 'node:crypto';
import {
  Server,
  type Metadata,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import type { AttachRequest, ExecuteRequest, StatusRequest, WatchRequest } from '../protocol/generated/executor_pb.js';
import { Runtime } from '../protocol/generated/executor_pb.js';
import { grpcService } from '../protocol/grpc-service.ts';
import { KEY_HEADER } from '../protocol/runtime-key.ts';
export { listen } from '../protocol/listen.ts';
import { grpcError } from '../protocol/status-codes.ts';
import { attach } from './attach.ts';
import { ExecutionError, type Executions } from './executions.ts';
import { pacedCall } from './paced-call.ts';

export interface RuntimeServiceOptions {
  executions: Executions;
  /** The isolation that executions get here; a request for another is refused. */
  isolation: 'shared' | 'process';
  /** Why no execution is taken; absent: they are. */
  refusal?: string;
  /** What callers have to know, unless they only ask how we are; absent: nothing. */
  key?: string;
  /** Whether executions can be started at all, and if not, why. */
  health(): { healthy: boolean; message: string };
}

const CODES = { InvalidArgument: 'INVALID_ARGUMENT', NotFound: 'NOT_FOUND', FailedPrecondition: 'FAILED_PRECONDITION' } as const;

/** A Runtime Server: the executions, spoken to over gRPC. */
export function runtimeService(options: RuntimeServiceOptions): Server {
  const { executions, key } = options;
  const unary = guarded(key);
  const execute = async (request: ExecuteRequest) => {
    checkIsolation(request, options);
    const timeoutMs = Number(request.timeoutMillis) || Number(request.timeoutSeconds) * 1000;
    const { id, args, env, workingDir, entrypoint, network } = request;
    const { warm } = await executions.execute({ id, args, env, workingDir, entrypoint, network, timeoutMs });
    return { id, warm };
  };
  // As many lists of full outputs as fit: the default of 4 MiB is less than two of them.
  const server = new Server({ 'grpc.max_send_message_length': -1, 'grpc.max_receive_message_length': 8 << 20 });
  server.addService(grpcService(Runtime), {
    execute: unary<ExecuteRequest>(execute),
    status: unary<StatusRequest>(async ({ id }) => executions.status(id)),
    list: unary(async () => ({ entries: executions.list() })),
    cancel: unary<StatusRequest>(({ id }) => executions.cancel(id)),
    forget: unary<StatusRequest>(async ({ id }) => executions.forget(id)),
    health: guarded(undefined)(async () => options.health()),
    watch: (call: ServerWritableStream<WatchRequest, object>) => {
      if (isKnown(call.metadata, key)) watch(executions, call);
      else call.emit('error', STRANGER);
    },
    attach: (call: ServerDuplexStream<AttachRequest, object>) => {
      if (isKnown(call.metadata, key)) attach(call, { executions, execute, refusalOf: failure });
      else call.emit('error', STRANGER);
    },
  });
  return server;
}

/** Never downgraded: a Run that asked for more isolation than there is does not run. */
function checkIsolation({ isolation }: ExecuteRequest, options: RuntimeServiceOptions): void {
  if (options.refusal !== undefined) throw new ExecutionError('FailedPrecondition', options.refusal);
  if (isolation === '' || isolation === options.isolation) return;
  throw new ExecutionError(
    'FailedPrecondition',
    `Cannot execute with isolation "${isolation}": this Runtime Server gives "${options.isolation}"; change the isolation of the Runtime`,
  );
}

const STRANGER = grpcError(
  'UNAUTHENTICATED',
  `Cannot serve this call: the header ${KEY_HEADER} is missing or wrong; only runtimed may call`,
);

/** Handlers for callers that know the key. */
function guarded(key: string | undefined) {
  return <Request>(handle: (request: Request) => Promise<object | void>) =>
    (call: ServerUnaryCall<Request, object>, answer: sendUnaryData<object>): void => {
      if (!isKnown(call.metadata, key)) return answer(STRANGER);
      handle(call.request).then(
        (result) => answer(null, result ?? {}),
        (error: unknown) => answer(failure(error)),
      );
    };
}

function isKnown(metadata: Metadata, key: string | undefined): boolean {
  if (key === undefined) return true;
  const [said] = metadata.get(KEY_HEADER);
  const [wanted, given] = [key, String(said)].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(wanted, given);
}

function failure(error: unknown): { code: number; details: string } {
  if (error instanceof ExecutionError) return grpcError(CODES[error.code], error.message);
  return grpcError('INTERNAL', error instanceof Error ? error.message : String(error));
}

function watch(executions: Executions, call: ServerWritableStream<WatchRequest, object>): void {
  const { id, stdoutOffset, stderrOffset } = call.request;
  const write = pacedCall(call);
  try {
    const stop = executions.watch(
      id,
      { stdout: Number(stdoutOffset), stderr: Number(stderrOffset) },
      {
        output: (stream, data) =>
          write({ event: { case: 'output', value: { stream, data, timeUnixNano: BigInt(Date.now()) * 1_000_000n } } }),
        end(status) {
          call.write({ event: { case: 'end', value: status } });
          call.end();
        },
      },
    );
    call.on('cancelled', stop);
  } catch (error) {
    call.emit('error', failure(error));
  }
}
