import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Server } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Executions } from '../../../src/areas/runs/servers/executions.ts';
import { LANGUAGES } from '../../../src/areas/runs/servers/language.ts';
import { listen, runtimeService } from '../../../src/areas/runs/servers/runtime-service.ts';
import { createSharedLauncher } from '../../../src/areas/runs/servers/shared-launcher.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { decode, encode, rawCall, type Fields } from './raw-grpc.ts';

const [OK, INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION, UNIMPLEMENTED] = [0, 3, 5, 9, 12];
const [RUNNING, SUCCEEDED, FAILED] = [2n, 3n, 4n];

describe('executor.v1 by the numbers of its fields', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-protocol-'));
  let server: Server;
  let executions: Executions;
  let port: number;
  beforeAll(async () => {
    const language = LANGUAGES.bash;
    const launcher = createSharedLauncher({ language, baseEnv: { PATH: process.env['PATH'] ?? '' }, warmWorkers: 0 });
    executions = new Executions({ language, launcher, clock: realClock });
    server = runtimeService({ executions, isolation: 'shared', health: () => ({ healthy: true, message: 'fine' }) });
    port = await listen(server, '127.0.0.1:0');
  });
  afterAll(async () => {
    server.forceShutdown();
    await executions.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const call = (method: string, message: Fields = []) => rawCall(port, `/executor.v1.Runtime/${method}`, message);
  const status = async (id: string) => {
    const { code, messages } = await call('Status', [[1, id]]);
    return { code, fields: decode(messages[0] ?? Buffer.alloc(0)) };
  };
  const ended = async (id: string) => {
    for (;;) {
      const { fields } = await status(id);
      const state = fields.get(2)?.[0];
      if (state === SUCCEEDED || state === FAILED) return fields;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const text = (fields: Map<number, (bigint | Buffer)[]>, number: number) => fields.get(number)?.[0]?.toString();

  it('ExecuteRequest: 1 id, 2 args, 3 env, 5 working_dir, 6 entrypoint; StatusResponse: 1 id, 2 state, 3 exit_code, 4 stdout, 5 stderr, 6 error_message', async () => {
    writeFileSync(join(folder, 'main.sh'), 'echo "$1 $2 $GREETING"; echo bad >&2; exit 3');
    const entry = encode([
      [1, 'GREETING'],
      [2, 'good day'],
    ]);
    const { code, messages } = await call('Execute', [
      [1, 'uid-1'],
      [2, 'a'],
      [2, 'b'],
      [3, entry],
      [5, folder],
      [6, 'main.sh'],
      // Of a client that is newer than we are.
      [4242, 'ignored'],
    ]);
    expect([code, text(decode(messages[0]), 1)]).toEqual([OK, 'uid-1']);
    const fields = await ended('uid-1');
    expect(fields.get(2)).toEqual([FAILED]);
    expect(fields.get(3)).toEqual([3n]);
    expect([1, 4, 5, 6].map((number) => text(fields, number))).toEqual(['uid-1', 'a b good day\n', 'bad\n', 'exit status 3']);
  });

  it('4 timeout_seconds: FAILED, -1, `timeout`', async () => {
    await call('Execute', [
      [1, 'slow'],
      [2, 'sleep 60'],
      [4, 1n],
      [5, folder],
    ]);
    expect((await status('slow')).fields.get(2)).toEqual([RUNNING]);
    const fields = await ended('slow');
    // A negative int32 is ten bytes on the wire.
    expect([fields.get(2), fields.get(3), text(fields, 6)]).toEqual([[FAILED], [BigInt.asUintN(64, -1n)], 'timeout']);
  });

  it('ListResponse: 1 entries, each a StatusResponse', async () => {
    const { messages } = await call('List');
    const ids = (decode(messages[0]).get(1) ?? []).map((entry) => text(decode(entry as Buffer), 1));
    expect(new Set(ids)).toEqual(new Set(['slow', 'uid-1']));
  });

  it('Cancel, Forget and their codes', async () => {
    await call('Execute', [
      [1, 'long'],
      [2, 'sleep 60'],
      [5, folder],
    ]);
    expect((await call('Forget', [[1, 'long']])).code).toBe(FAILED_PRECONDITION);
    expect((await call('Cancel', [[1, 'long']])).code).toBe(OK);
    expect((await status('long')).code).toBe(NOT_FOUND);
    expect((await call('Cancel', [[1, 'long']])).code).toBe(NOT_FOUND);
    expect((await call('Forget', [[1, 'uid-1']])).code).toBe(OK);
    expect((await call('Forget', [[1, 'uid-1']])).code).toBe(NOT_FOUND);
  });

  it('HealthResponse: 1 healthy, 2 message', async () => {
    const fields = decode((await call('Health')).messages[0]);
    expect([fields.get(1), text(fields, 2)]).toEqual([[1n], 'fine']);
  });

  it('an execution of the same id replaces the one before, so that a Run can be tried again', async () => {
    await call('Execute', [
      [1, 'same'],
      [2, 'sleep 60'],
      [5, folder],
    ]);
    expect(
      (
        await call('Execute', [
          [1, 'same'],
          [2, 'echo second'],
          [5, folder],
        ])
      ).code,
    ).toBe(OK);
    expect(text(await ended('same'), 4)).toBe('second\n');
  });

  it('refuses what is no execution, and says that functions are not served', async () => {
    expect((await call('Execute', [[2, 'true']])).code).toBe(INVALID_ARGUMENT);
    expect((await rawCall(port, '/executor.v1.FunctionRuntime/FunctionStatus', [])).code).toBe(UNIMPLEMENTED);
  });

  it('is written down with the same numbers', () => {
    const proto = readFileSync('src/areas/runs/protocol/executor.proto', 'utf8');
    const message = (name: string) => /\{([^}]*)\}/.exec(proto.slice(proto.indexOf(`message ${name} `)))![1];
    const fields = (name: string) => [...message(name).matchAll(/(\w+) = (\d+);/g)].map(([, field, number]) => `${number} ${field}`);
    expect(fields('ExecuteRequest').slice(0, 7)).toEqual(
      ['id', 'args', 'env', 'timeout_seconds', 'working_dir', 'entrypoint', 'handler'].map((field, index) => `${index + 1} ${field}`),
    );
    expect(fields('StatusResponse')).toEqual(
      ['id', 'state', 'exit_code', 'stdout', 'stderr', 'error_message'].map((field, index) => `${index + 1} ${field}`),
    );
  });
});
