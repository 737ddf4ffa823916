import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { credentials, makeClientConstructor, type Client, type ClientReadableStream, type Server } from '@grpc/grpc-js';
import { afterEach, expect, it } from 'vitest';
import { realClock } from '../../../lib/clock.ts';
import { Runtime } from '../protocol/generated/executor_pb.js';
import { grpcService } from '../protocol/grpc-service.ts';
import { Executions } from './executions.ts';
import { LANGUAGES } from './language.ts';
import { listen, runtimeService } from './runtime-service.ts';

const CHUNK = 1 << 20;
const ENOUGH = 128 << 20;
const folder = mkdtempSync(join(tmpdir(), 'tenantry-paced-'));
let server: Server;
afterEach(() => {
  server.forceShutdown();
  rmSync(folder, { recursive: true, force: true });
});

it('a program that writes faster than its output is read waits, and nothing of it is lost', async () => {
  let written = 0;
  let begin!: () => void;
  const watched = new Promise<void>((resolve) => (begin = resolve));
  const stdout = new Readable({
    read() {
      void watched.then(() => {
        const isDone = written === ENOUGH;
        if (!isDone) written += CHUNK;
        this.push(isDone ? null : Buffer.alloc(CHUNK));
      });
    },
  });
  const ended = new Promise<{ exitCode: number }>((resolve) => stdout.once('end', () => resolve({ exitCode: 0 })));
  const launch = () => ({ warm: true, stdout, stderr: new PassThrough().end(), ended, signal() {} });
  const executions = new Executions({ language: LANGUAGES.bash, launcher: { launch, close() {} }, clock: realClock });
  const watch = executions.watch.bind(executions);
  executions.watch = (...args) => {
    begin();
    return watch(...args);
  };
  server = runtimeService({ executions, isolation: 'shared', health: () => ({ healthy: true, message: 'ok' }) });
  const port = await listen(server, '127.0.0.1:0');
  const Stub = makeClientConstructor(grpcService(Runtime), 'Runtime');
  const client = new Stub(`127.0.0.1:${port}`, credentials.createInsecure()) as Client & Record<string, CallableFunction>;
  const request = { id: 'floods', args: ['x'], env: {}, timeoutMs: 0, workingDir: folder, entrypoint: '', network: false };
  const executing = executions.execute(request);
  const stream = client['watch']({ id: 'floods' }) as ClientReadableStream<{ event: { case: string; value: { data: Buffer } } }>;
  await executing;
  // A client that never began to read would take in everything: gRPC holds a sender back only once something was read.
  const first = await new Promise<number>((resolve) => {
    stream.once('data', ({ event }) => {
      stream.pause();
      resolve(event.value.data.length);
    });
  });
  // Nobody reads on: it comes to rest, long before its end.
  for (let before = -1; before !== written;) {
    before = written;
    await pause(500);
  }
  expect(written).toBeLessThan(ENOUGH / 2);
  let read = first;
  for await (const { event } of stream as AsyncIterable<{ event: { case: string; value: { data: Buffer } } }>)
    if (event.case === 'output') read += event.value.data.length;
  expect(read).toBe(ENOUGH);
  client.close();
}, 60_000);
