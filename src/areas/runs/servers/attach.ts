import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { AttachRequest, ExecuteRequest } from '../protocol/generated/executor_pb.js';
import type { Executions, StreamName } from './executions.ts';
import { pacedCall } from './paced-call.ts';

export interface AttachOptions {
  executions: Executions;
  execute(request: ExecuteRequest): Promise<object>;
  /** The status of gRPC that a call of its own would have ended with. */
  refusalOf(error: unknown): { code: number; details: string };
}

/** Serves one caller's executions over one stream. When it breaks, they go on: the caller comes back and watches. */
export function attach(call: ServerDuplexStream<AttachRequest, object>, options: AttachOptions): void {
  const { executions } = options;
  const watching = new Set<() => void>();
  const write = pacedCall(call);
  const say = (id: string, name: string, value: object) => write({ id, event: { case: name, value } });
  const refuse = (id: string, error: unknown) => {
    const { code, details } = options.refusalOf(error);
    void say(id, 'refused', { code, message: details });
  };

  const watch = (id: string, offsets: Record<StreamName, number>) => {
    const stop = executions.watch(id, offsets, {
      output: (stream, data) => say(id, 'output', { stream, data, timeUnixNano: BigInt(Date.now()) * 1_000_000n }),
      end(status) {
        void say(id, 'end', status);
        watching.delete(stop);
      },
    });
    watching.add(stop);
  };
  const execute = async (request: ExecuteRequest) => {
    const { id } = request;
    try {
      void say(id, 'started', await options.execute(request));
      watch(id, { stdout: 0, stderr: 0 });
    } catch (error) {
      refuse(id, error);
    }
  };

  call.on('data', ({ request }: AttachRequest) => {
    if (request.case === 'execute') return void execute(request.value);
    if (request.case === undefined) return;
    try {
      const { value } = request;
      if (request.case === 'forget') executions.forget(value.id);
      else watch(value.id, { stdout: Number(request.value.stdoutOffset), stderr: Number(request.value.stderrOffset) });
    } catch (error) {
      if (request.case === 'watch') refuse(request.value.id, error);
    }
  });
  const leave = () => {
    for (const stop of watching) stop();
    watching.clear();
  };
  call.on('cancelled', leave);
  call.on('end', () => {
    leave();
    call.end();
  });
}
