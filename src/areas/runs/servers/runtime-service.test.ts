import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials, makeClientConstructor, Metadata, status, type Client, type ServiceError } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { realClock } from '../../../lib/clock.ts';
import { ExecutionState, Runtime, type StatusResponse, type WatchEvent } from '../protocol/generated/executor_pb.js';
import { grpcService } from '../protocol/grpc-service.ts';
import { Executions } from './executions.ts';
import { LANGUAGES, type LanguageName } from './language.ts';
import { withoutInterpreter } from './not-started.ts';
import { listen, runtimeService } from './runtime-service.ts';
import { createSharedLauncher } from './shared-launcher.ts';

const Stub = makeClientConstructor(grpcService(Runtime), 'Runtime');
const folder = mkdtempSync(join(tmpdir(), 'tenantry-server-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Peer {
  call<T = StatusResponse>(method: string, request: object): Promise<T>;
  watch(id: string, offset?: number): Promise<{ stdout: string; stderr: string; end: StatusResponse; chunks: number }>;
  close(): Promise<void>;
}

async function start(name: LanguageName, warmWorkers: number): Promise<Peer> {
  const language = LANGUAGES[name];
  const launcher = createSharedLauncher({ language, baseEnv: { PATH: process.env['PATH'] ?? '' }, warmWorkers });
  const executions = new Executions({ language, launcher, clock: realClock });
  const server = runtimeService({ executions, isolation: 'shared', health: () => ({ healthy: true, message: 'ok' }) });
  const port = await listen(server, '127.0.0.1:0');
  const client = new Stub(`127.0.0.1:${port}`, credentials.createInsecure()) as Client & Record<string, CallableFunction>;
  return {
    call: (method, request) =>
      new Promise((resolve, reject) =>
        client[method](request, (error: ServiceError | null, value: never) => (error ? reject(error) : resolve(value))),
      ),
    watch: async (id, offset = 0) => {
      const result = { stdout: '', stderr: '', end: undefined as unknown as StatusResponse, chunks: 0 };
      for await (const { event } of client['watch']({ id, stdoutOffset: BigInt(offset) }) as AsyncIterable<WatchEvent>) {
        if (event.case === 'output') {
          result.chunks++;
          result[event.value.stream as 'stdout'] += Buffer.from(event.value.data).toString();
        }
        if (event.case === 'end') result.end = event.value;
      }
      return result;
    },
    close: async () => {
      client.close();
      await executions.close();
      server.forceShutdown();
    },
  };
}

/** One that was orphaned and killed is there until init has looked at it: what counts is that it does nothing any more. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
}

function workingDir(id: string, script?: string): string {
  const path = join(folder, id);
  mkdirSync(path, { recursive: true });
  if (script !== undefined) writeFileSync(join(path, 'script'), script);
  return path;
}

const programs: Record<LanguageName, { hello: string; fails: string; environment: string; where: string; arguments: string }> = {
  bash: { hello: 'echo out; echo err >&2', fails: 'exit 3', environment: 'echo "$GREETING"', where: 'pwd', arguments: 'echo "$0 $1"' },
  python: {
    hello: 'import sys\nprint("out")\nprint("err", file=sys.stderr)',
    fails: 'import sys\nsys.exit(3)',
    environment: 'import os\nprint(os.environ["GREETING"])',
    where: 'import os\nprint(os.getcwd())',
    arguments: 'import sys\nprint(sys.argv[0], sys.argv[1])',
  },
  node: {
    hello: 'console.log("out"); console.error("err")',
    fails: 'process.exit(3)',
    environment: 'console.log(process.env.GREETING)',
    where: 'console.log(process.cwd())',
    arguments: 'console.log(process.argv[1], process.argv[2])',
  },
};

describe.each([
  ['bash', 0],
  ['bash', 2],
  ['python', 0],
  ['python', 1],
  ['node', 0],
  ['node', 1],
] as const)('a Runtime Server for %s with %d warm workers', (name, warmWorkers) => {
  let peer: Peer;
  let next = 0;
  const id = () => `${name}-${warmWorkers}-${next++}`;
  beforeAll(async () => {
    peer = await start(name, warmWorkers);
  });
  afterAll(() => peer.close());

  it('streams what a program writes, then its end', async () => {
    const run = id();
    const { warm } = await peer.call<{ warm: boolean }>('execute', { id: run, args: [programs[name].hello], workingDir: workingDir(run) });
    expect(warm).toBe(warmWorkers > 0);
    const seen = await peer.watch(run);
    expect(seen).toMatchObject({ stdout: 'out\n', stderr: 'err\n', end: { state: ExecutionState.SUCCEEDED, exitCode: 0 } });
    expect(await peer.call('status', { id: run })).toMatchObject({ stdout: 'out\n', stderr: 'err\n', state: ExecutionState.SUCCEEDED });
  });

  it('tells the exit code of a program that fails', async () => {
    const run = id();
    await peer.call('execute', { id: run, args: [programs[name].fails], workingDir: workingDir(run) });
    expect((await peer.watch(run)).end).toMatchObject({ state: ExecutionState.FAILED, exitCode: 3, errorMessage: 'exit status 3' });
  });

  it('runs a file in its folder, with its arguments and environment', async () => {
    const env = { GREETING: `it's "me" $HOME \n\t` };
    const stdoutOf = async (script: string, args: string[] = []) => {
      const run = id();
      const path = workingDir(run, script);
      await peer.call('execute', { id: run, args, env, workingDir: path });
      return { path, text: (await peer.watch(run)).stdout };
    };
    expect((await stdoutOf(programs[name].environment)).text).toBe(`${env.GREETING}\n`);
    const where = await stdoutOf(programs[name].where);
    expect(where.text.trim()).toBe(where.path);
    const given = await stdoutOf(programs[name].arguments, [`a 'b'`]);
    expect(given.text.trim()).toBe(`${join(given.path, 'script')} a 'b'`);
  });

  it('sees no variable of the server itself', async () => {
    const run = id();
    await peer.call('execute', { id: run, args: ['sh', '-c', 'env'].slice(name === 'bash' ? 0 : 3), workingDir: workingDir(run) });
    const { stdout } = await peer.watch(run);
    expect(stdout).not.toContain('VITEST');
  });
});

describe('a Runtime Server', () => {
  let peer: Peer;
  beforeAll(async () => {
    peer = await start('bash', 1);
  });
  afterAll(() => peer.close());

  it.each([
    ['status', status.NOT_FOUND],
    ['cancel', status.NOT_FOUND],
    ['forget', status.NOT_FOUND],
  ])('%s of an execution that is not there', (method, code) => expect(peer.call(method, { id: 'nobody' })).rejects.toMatchObject({ code }));

  it('a watch of an execution that is not there fails', () =>
    expect(peer.watch('nobody')).rejects.toMatchObject({ code: status.NOT_FOUND }));

  it('an execution without an id is refused', () =>
    expect(peer.call('execute', { args: ['true'] })).rejects.toMatchObject({ code: status.INVALID_ARGUMENT }));

  it('isolation that it does not have is refused', () =>
    expect(peer.call('execute', { id: 'x', args: ['true'], isolation: 'process' })).rejects.toMatchObject({
      code: status.FAILED_PRECONDITION,
      details: expect.stringContaining('this Runtime Server gives "shared"'),
    }));

  it.each([
    ['that was found out at the start', () => withoutInterpreter('python3')],
    ['that is found out now', () => createSharedLauncher({ language: LANGUAGES.python, baseEnv: { PATH: '/nowhere' }, warmWorkers: 0 })],
  ])('an interpreter that is missing, %s, is the reason why a program fails', async (_name, launcher) => {
    const executions = new Executions({ language: LANGUAGES.python, launcher: launcher(), clock: realClock });
    const request = { id: 'x', args: ['1'], env: {}, timeoutMs: 0, workingDir: workingDir('missing'), entrypoint: '', network: false };
    await executions.execute(request);
    await expect
      .poll(() => executions.status('x'))
      .toMatchObject({
        state: ExecutionState.FAILED,
        exitCode: -1,
        errorMessage: 'interpreter not found: python3',
      });
  });

  it('one with a key talks to those who know it, and tells everybody how it is', async () => {
    const language = LANGUAGES.bash;
    const executions = new Executions({
      language,
      launcher: createSharedLauncher({ language, baseEnv: {}, warmWorkers: 0 }),
      clock: realClock,
    });
    const server = runtimeService({ executions, isolation: 'shared', key: 'right', health: () => ({ healthy: true, message: 'ok' }) });
    const client = new Stub(`127.0.0.1:${await listen(server, '127.0.0.1:0')}`, credentials.createInsecure()) as Client &
      Record<string, CallableFunction>;
    const codeOf = (method: string, key?: string) => {
      const metadata = new Metadata();
      if (key !== undefined) metadata.set('x-runtime-key', key);
      return new Promise((resolve) => client[method]({}, metadata, (error: ServiceError | null) => resolve(error?.code ?? status.OK)));
    };
    expect(await codeOf('list')).toBe(status.UNAUTHENTICATED);
    expect(await codeOf('execute', 'wrong')).toBe(status.UNAUTHENTICATED);
    expect(await codeOf('list', 'right')).toBe(status.OK);
    expect(await codeOf('health')).toBe(status.OK);
    const stream = client['watch']({ id: 'x' }) as AsyncIterable<WatchEvent>;
    await expect(async () => {
      for await (const event of stream) expect(event).toBeUndefined();
    }).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
    client.close();
    server.forceShutdown();
  });

  it('a program that takes too long is ended, and says timeout', async () => {
    await peer.call('execute', { id: 'slow', args: ['sleep 60'], workingDir: workingDir('slow'), timeoutMillis: 50n });
    expect((await peer.watch('slow')).end).toMatchObject({ state: ExecutionState.FAILED, exitCode: -1, errorMessage: 'timeout' });
  });

  it('a cancelled program and what it started are gone, also when they do not listen', async () => {
    const path = workingDir('stubborn');
    await peer.call('execute', { id: 'stubborn', args: ['trap "" TERM; sleep 61 & echo $$ $!; wait; sleep 62'], workingDir: path });
    await expect.poll(async () => (await peer.call('status', { id: 'stubborn' })).stdout).toMatch(/^\d+ \d+\n$/);
    const pids = (await peer.call('status', { id: 'stubborn' })).stdout.trim().split(' ').map(Number);
    await expect(peer.call('forget', { id: 'stubborn' })).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
    await peer.call('cancel', { id: 'stubborn' });
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
    await expect(peer.call('status', { id: 'stubborn' })).rejects.toMatchObject({ code: status.NOT_FOUND });
  });

  it('what a program leaves running ends with it', async () => {
    await peer.call('execute', { id: 'parent', args: ['sleep 63 & echo $!'], workingDir: workingDir('parent') });
    const { stdout, end } = await peer.watch('parent');
    expect(end.state).toBe(ExecutionState.SUCCEEDED);
    await expect.poll(() => isAlive(Number(stdout))).toBe(false);
  });

  it('the same id again ends the one before', async () => {
    const path = workingDir('again');
    await peer.call('execute', { id: 'again', args: ['echo $$; sleep 64'], workingDir: path });
    await expect.poll(async () => (await peer.call('status', { id: 'again' })).stdout).not.toBe('');
    const pid = Number((await peer.call('status', { id: 'again' })).stdout);
    await peer.call('execute', { id: 'again', args: ['echo second'], workingDir: path });
    expect((await peer.watch('again')).stdout).toBe('second\n');
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it('an output without end is kept up to a mebibyte, bytes that are no text included', async () => {
    await peer.call('execute', { id: 'much', args: ['head -c 3000000 /dev/zero | tr "\\0" "\\377"'], workingDir: workingDir('much') });
    await peer.watch('much');
    const { stdout } = await peer.call('status', { id: 'much' });
    expect(stdout.endsWith('\n[output truncated]\n')).toBe(true);
    expect(stdout.startsWith('\uFFFD')).toBe(true);
    expect(await peer.call<{ entries: StatusResponse[] }>('list', {})).toMatchObject({ entries: expect.any(Array) });
    await peer.call('forget', { id: 'much' });
  });

  it('a watcher that comes back gets only what it has not', async () => {
    await peer.call('execute', { id: 'offset', args: ['printf 0123456789'], workingDir: workingDir('offset') });
    await peer.watch('offset');
    expect((await peer.watch('offset', 7)).stdout).toBe('789');
  });
});
