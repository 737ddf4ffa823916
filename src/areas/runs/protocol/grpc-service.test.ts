import { create } from '@bufbuild/protobuf';
import { Client, credentials, makeClientConstructor, Server, ServerCredentials, status, type ServiceError } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { ExecuteResponseSchema, ExecutionState, Runtime, StatusResponseSchema, type ExecuteRequest } from './generated/executor_pb.js';
import { grpcService } from './grpc-service.ts';

const definition = grpcService(Runtime);

describe('grpcService', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.forceShutdown();
  });

  it('has the method names that the original calls, and our own', () => {
    expect(Object.values(definition).map((method) => method.path)).toEqual(
      ['Execute', 'Status', 'List', 'Cancel', 'Forget', 'Health', 'Watch', 'Attach'].map((name) => `/executor.v1.Runtime/${name}`),
    );
  });

  it('carries a request and its answer; a method that is not implemented says so', async () => {
    const server = new Server();
    servers.push(server);
    let seen: ExecuteRequest | undefined;
    server.addService(definition, {
      execute: (call: { request: ExecuteRequest }, answer: (error: null, value: unknown) => void) => {
        seen = call.request;
        answer(null, create(ExecuteResponseSchema, { id: call.request.id }));
      },
    });
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => (error ? reject(error) : resolve(bound))),
    );
    const Stub = makeClientConstructor(definition, 'Runtime');
    const client = new Stub(`127.0.0.1:${port}`, credentials.createInsecure()) as Client & Record<string, CallableFunction>;
    const call = (name: string, request: object) =>
      new Promise((resolve, reject) =>
        client[name](request, (error: ServiceError | null, value: unknown) => (error ? reject(error) : resolve(value))),
      );
    expect(await call('execute', { id: 'u-1', args: ['true'], env: { A: 'b' }, timeoutSeconds: 3n })).toMatchObject({ id: 'u-1' });
    expect(seen).toMatchObject({ id: 'u-1', args: ['true'], env: { A: 'b' }, timeoutSeconds: 3n });
    await expect(call('status', { id: 'u-1' })).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
    client.close();
  });

  it('keeps the numbers of the states', () => {
    expect(create(StatusResponseSchema, { state: ExecutionState.SUCCEEDED }).state).toBe(3);
  });
});
