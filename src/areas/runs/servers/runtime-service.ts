import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall, type ServerWritableStream } from '@grpc/grpc-js';
import type { ExecuteRequest, StatusRequest, WatchRequest } from '../protocol/generated/executor_pb.js';
import { Runtime } from '../protocol/generated/executor_pb.js';
import { grpcService } from '../protocol/grpc-service.ts';
import { grpcError } from '../protocol/status-codes.ts';
import { ExecutionError, type Executions } from './executions.ts';

export interface RuntimeServiceOptions {
  executions: Executions;
  /** The isolation that executions get here; a request for another is refused. */
  isolation: 'shared' | 'process';
  /** Why no execution is taken; absent: they are. */
  refusal?: string;
  /** Whether executions can be started at all, and if not, why. */
  health(): { healthy: boolean; message: string };
}

const CODES = { InvalidArgument: 'INVALID_ARGUMENT', NotFound: 'NOT_FOUND', FailedPrecondition: 'FAILED_PRECONDITION' } as const;

/** A Runtime Server: the executions, spoken to over gRPC. */
export function runtimeService(options: RuntimeServiceOptions): Server {
  const { executions } = options;
  // As many lists of full outputs as fit: the default of 4 MiB is less than two of them.
  const server = new Server({ 'grpc.max_send_message_length': -1, 'grpc.max_receive_message_length': 8 << 20 });
  server.addService(grpcService(Runtime), {
    execute: unary<ExecuteRequest>(async (request) => {
      checkIsolation(request, options);
      const timeoutMs = Number(request.timeoutMillis) || Number(request.timeoutSeconds) * 1000;
      const { id, args, env, workingDir, entrypoint, network } = request;
      const { warm } = await executions.execute({ id, args, env, workingDir, entrypoint, network, timeoutMs });
      return { id, warm };
    }),
    status: unary<StatusRequest>(async ({ id }) => executions.status(id)),
    list: unary(async () => ({ entries: executions.list() })),
    cancel: unary<StatusRequest>(({ id }) => executions.cancel(id)),
    forget: unary<StatusRequest>(async ({ id }) => executions.forget(id)),
    health: unary(async () => options.health()),
    watch: (call: ServerWritableStream<WatchRequest, object>) => watch(executions, call),
  });
  return server;
}

export function listen(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) =>
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => (error === null ? resolve(port) : reject(error))),
  );
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

function unary<Request>(handle: (request: Request) => Promise<object | void>) {
  return (call: ServerUnaryCall<Request, object>, answer: sendUnaryData<object>): void => {
    handle(call.request).then(
      (result) => answer(null, result ?? {}),
      (error: unknown) => answer(failure(error)),
    );
  };
}

function failure(error: unknown): { code: number; details: string } {
  if (error instanceof ExecutionError) return grpcError(CODES[error.code], error.message);
  return grpcError('INTERNAL', error instanceof Error ? error.message : String(error));
}

function watch(executions: Executions, call: ServerWritableStream<WatchRequest, object>): void {
  const { id, stdoutOffset, stderrOffset } = call.request;
  try {
    const stop = executions.watch(
      id,
      { stdout: Number(stdoutOffset), stderr: Number(stderrOffset) },
      {
        output(stream, data) {
          call.write({ event: { case: 'output', value: { stream, data, timeUnixNano: BigInt(Date.now()) * 1_000_000n } } });
        },
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
