import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, status, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js';
import { afterAll, describe, expect, it } from 'vitest';
import { realClock } from '../../../../lib/clock.ts';
import { ExecutionState, Runtime } from '../../protocol/generated/executor_pb.js';
import { grpcService } from '../../protocol/grpc-service.ts';
import { listen } from '../../protocol/listen.ts';
import { Executions } from '../executions.ts';
import { LANGUAGES, type LanguageName } from '../language.ts';
import { runtimeService } from '../runtime-service.ts';
import { createSharedLauncher } from '../shared-launcher.ts';
import { PROGRAMS } from './programs.ts';
import { conforms, line, runConformance, summary, type CheckResult } from './run-conformance.ts';

const workDir = mkdtempSync(join(tmpdir(), 'tenantry-conformance-'));
afterAll(() => rmSync(workDir, { recursive: true, force: true }));

const problemsOf = (results: CheckResult[]) => results.filter(({ problem }) => problem !== undefined).map(line);

describe('runConformance', () => {
  it.each(Object.keys(LANGUAGES) as LanguageName[])(
    'finds nothing wrong with our server for %s',
    async (name) => {
      const language = LANGUAGES[name];
      const launcher = createSharedLauncher({ language, baseEnv: { PATH: process.env['PATH'] ?? '' }, warmWorkers: 2 });
      const executions = new Executions({ language, launcher, clock: realClock });
      const server = runtimeService({ executions, isolation: 'shared', key: 'k', health: () => ({ healthy: true, message: 'ok' }) });
      const address = `127.0.0.1:${await listen(server, '127.0.0.1:0')}`;
      const results = await runConformance({ address, programs: PROGRAMS[name], workDir, key: 'k' });
      expect(problemsOf(results)).toEqual([]);
      expect(summary(results)).toMatch(/^\d+ checks: \d+ ok, 0 failed, 0 warnings. This Runtime Server conforms.$/);
      await executions.close();
      server.forceShutdown();
    },
    60_000,
  );

  it('tells what is wrong with a server that gets everything wrong', async () => {
    const server = wrongServer();
    const address = `127.0.0.1:${await listen(server, '127.0.0.1:0')}`;
    const results = await runConformance({ address, programs: PROGRAMS.bash, workDir });
    server.forceShutdown();
    const verdicts = Object.fromEntries(results.map(({ check, problem }) => [check.name, problem ?? 'ok']));
    expect(verdicts).toMatchObject({
      'Health says healthy': 'it says: not today',
      'Status of a program that succeeded': 'stdout is "what ever", not "out\\n"',
      'Status of a program that failed': 'the state is SUCCEEDED, not FAILED',
      'Status of an unknown id': 'the code is OK, not NOT_FOUND',
      'Forget of an unknown id': 'ok',
      'Execute of an id that is running replaces it': 'a program that goes on for a minute is SUCCEEDED',
      'List with many full outputs': 'RESOURCE_EXHAUSTED: too much',
      'Watch streams the output, then the end': 'it is not implemented',
    });
    expect(results.filter(({ problem }) => problem === undefined).map(({ check }) => check.name)).toEqual(['Forget of an unknown id']);
    expect(conforms(results)).toBe(false);
    expect(summary(results)).toContain('does not conform');
    expect(line(results[0])).toContain('FAIL  Health says healthy');
  }, 60_000);

  it('says so when nobody answers', () =>
    expect(runConformance({ address: '127.0.0.1:1', programs: PROGRAMS.bash, workDir })).rejects.toThrow(
      'Cannot reach a Runtime Server at "127.0.0.1:1"',
    ));
});

/** Knows the method names and little else. */
function wrongServer(): Server {
  const seen = new Set<string>();
  const answer = (value: object) => (_call: ServerUnaryCall<object, object>, callback: sendUnaryData<object>) => callback(null, value);
  const server = new Server();
  server.addService(grpcService(Runtime), {
    execute: (call: ServerUnaryCall<{ id: string }, object>, callback: sendUnaryData<object>) => {
      const { id } = call.request;
      if (seen.has(id)) return callback({ code: status.ALREADY_EXISTS, details: 'there is one' });
      seen.add(id);
      callback(null, { id: 'mine' });
    },
    status: answer({ state: ExecutionState.SUCCEEDED, stdout: 'what ever', exitCode: 0 }),
    list: (_call: unknown, callback: sendUnaryData<object>) => callback({ code: status.RESOURCE_EXHAUSTED, details: 'too much' }),
    cancel: answer({}),
    health: answer({ healthy: false, message: 'not today' }),
  });
  return server;
}
