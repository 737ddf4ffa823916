import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ShimError, type Shim, type ShimProgram } from '../../../src/engine/node/shim/shim.ts';
import { makeShimFolder, shimsOf, type ShimFolder } from '../../conformance/node-driver/shim-folder.ts';
import { StreamText, textOf } from '../../conformance/node-driver/stream-text.ts';
import { eventually } from '../controllers/eventually.ts';

let folder: ShimFolder;
let shim: Shim;

beforeEach(async () => {
  folder = await makeShimFolder();
  shim = await folder.connect();
});

afterEach(() => folder.dispose());

const env = { PATH: process.env.PATH! };
let count = 0;

function program(argv: string[], more: Partial<ShimProgram> = {}): ShimProgram {
  const id = more.id ?? `p${++count}`;
  return {
    id,
    argv,
    env,
    cwd: '/',
    terminal: false,
    stdin: false,
    stdinOnce: false,
    labels: {},
    log: { path: join(folder.dir, 'logs', `${id}.log`), maxBytes: 50_000_000, maxFiles: 5 },
    ...more,
  };
}

const shell = (script: string, more: Partial<ShimProgram> = {}) => program(['/bin/sh', '-c', script], more);
const transient = (script: string, more: Partial<ShimProgram> = {}) => ({
  argv: ['/bin/sh', '-c', script],
  env,
  cwd: '/',
  terminal: false,
  stdin: false,
  ...more,
});

/** The texts of a log, without the times. */
function logOf({ log }: ShimProgram): string[] {
  return readFileSync(log.path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/^\S+Z /, ''));
}

async function codeOf(action: Promise<unknown>): Promise<string | undefined> {
  return action.then(
    () => undefined,
    (error: unknown) => (error instanceof ShimError ? error.code : String(error)),
  );
}

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe('start', () => {
  it('start gives exit codes and writes both outputs to the log', async () => {
    const spec = shell('echo out; echo err >&2; exit 3');
    const { pid, startedAt } = await shim.start(spec);
    const end = await shim.ended(spec.id);
    expect(end).toMatchObject({ exitCode: 3, startedAt });
    expect(end.finishedAt.getTime()).toBeGreaterThanOrEqual(startedAt.getTime());
    expect(pid).toBeGreaterThan(1);
    expect(logOf(spec).sort()).toEqual(['stderr F err', 'stdout F out']);
  });

  it('start hands over pipes that a program can open again by name', async () => {
    const spec = shell('echo again > /dev/stdout');
    await shim.start(spec);
    expect((await shim.ended(spec.id)).exitCode).toBe(0);
    expect(logOf(spec)).toEqual(['stdout F again']);
  });

  it('start passes nothing of its own environment on', async () => {
    const spec = program(['/usr/bin/env'], { env: { ONLY: 'this' } });
    await shim.start(spec);
    await shim.ended(spec.id);
    expect(logOf(spec)).toEqual(['stdout F ONLY=this']);
  });

  it.each<[string, () => ShimProgram, string]>([
    ['CommandNotFound for a program that is not there', () => program(['/nowhere/program']), 'CommandNotFound'],
    ['CommandNotFound for a name that is nowhere in PATH', () => program(['no-such-program']), 'CommandNotFound'],
    ['CommandNotFound with a terminal too', () => program(['no-such-program'], { terminal: true }), 'CommandNotFound'],
    ['NotExecutable for a text file', () => program([join(folder.dir, 'text')]), 'NotExecutable'],
    ['NotExecutable with a terminal too', () => program([join(folder.dir, 'text')], { terminal: true }), 'NotExecutable'],
    ['StartFailed for a folder that is not there', () => program(['/bin/true'], { cwd: '/nowhere' }), 'StartFailed'],
    ['StartFailed for an id that is no file name', () => program(['/bin/true'], { id: '../../oops' }), 'StartFailed'],
  ])('start rejects with %s, and nothing is left', async (_name, spec, code) => {
    writeFileSync(join(folder.dir, 'text'), 'hello', { mode: 0o644 });
    expect(await codeOf(shim.start(spec()))).toBe(code);
    expect(await shim.list()).toEqual([]);
    expect(readdirSync(join(folder.dir, 'shim')).filter((name) => name.endsWith('.json'))).toEqual([]);
  });

  it('start refuses an id for the second time until it is forgotten', async () => {
    const spec = shell('exit 0');
    await shim.start(spec);
    expect(await codeOf(shim.start(spec))).toBe('AlreadyExists');
    await shim.ended(spec.id);
    expect(await codeOf(shim.start(spec))).toBe('AlreadyExists');
    await shim.forget(spec.id);
    expect(await codeOf(shim.start(spec))).toBeUndefined();
  });

  it('start joins one of the same id that is on its way', async () => {
    const spec = shell('sleep 0.2; echo >&3; exec 3>&-; echo once; exec sleep 60', { saysWhenReady: true });
    const [first, second] = await Promise.all([shim.start(spec), shim.start(spec)]);
    expect(second).toEqual(first);
    expect(await shim.list()).toHaveLength(1);
  });

  it('start waits for a program that says when it is ready', async () => {
    const before = Date.now();
    await shim.start(shell('sleep 0.3; echo >&3; exec 3>&-; exec sleep 60', { saysWhenReady: true }));
    expect(Date.now() - before).toBeGreaterThanOrEqual(290);
  });

  it('start rejects with the words of a program that ends before it is ready, and logs nothing', async () => {
    const spec = shell('echo no luck >&2; exit 1', { saysWhenReady: true });
    await expect(shim.start(spec)).rejects.toThrow('no luck');
    expect(existsSync(spec.log.path)).toBe(false);
    expect(await shim.list()).toEqual([]);
  });
});

describe('signals', () => {
  it('signal ends a program with 128 and its number', async () => {
    const spec = shell('exec sleep 60');
    await shim.start(spec);
    await shim.signal(spec.id, 'SIGTERM');
    expect(await shim.ended(spec.id)).toMatchObject({ exitCode: 143, signal: 'SIGTERM' });
  });

  it('signal to the group reaches the children', async () => {
    const spec = shell('trap "" TERM; sleep 60 & trap "echo stopped; exit 5" TERM; echo ready; wait');
    await shim.start(spec);
    await eventually(
      () => existsSync(spec.log.path) && logOf(spec).length,
      (lines) => lines === 1,
    );
    await shim.signal(spec.id, 'SIGTERM', { group: true });
    expect((await shim.ended(spec.id)).exitCode).toBe(5);
  });

  it('what a program leaves behind in its session is killed when it ends', async () => {
    const spec = shell('(trap "" HUP TERM; sleep 300) & echo $!; exit 0');
    await shim.start(spec);
    await shim.ended(spec.id);
    const child = Number(logOf(spec)[0].split(' ')[2]);
    expect(isRunning(child)).toBe(false);
  });

  it('orphans leave no zombies', async () => {
    const spec = shell('for i in 1 2 3 4 5; do (setsid sleep 0.05 &) ; done; echo ready; exec sleep 60');
    await shim.start(spec);
    const children = () => readFileSync(`/proc/${folder.shimPid()}/task/${folder.shimPid()}/children`, 'utf8').trim().split(' ');
    await eventually(
      () => existsSync(spec.log.path) && logOf(spec).length,
      (lines) => lines === 1,
    );
    await eventually(children, (pids) => pids.length === 1);
  });

  it('signal and ended reject with NotFound for what was never started', async () => {
    expect(await codeOf(shim.signal('nobody', 'SIGTERM'))).toBe('NotFound');
    expect(await codeOf(shim.ended('nobody'))).toBe('NotFound');
    expect(await codeOf(shim.attach('nobody'))).toBe('NotFound');
  });
});

describe('logs', () => {
  it('a log is there before the first line', async () => {
    const spec = shell('exec sleep 60');
    await shim.start(spec);
    await eventually(
      () => existsSync(spec.log.path),
      (there) => there,
    );
  });

  it('a log is rotated by size and only so many files are kept', async () => {
    const spec = shell('i=0; while [ $i -lt 3000 ]; do echo "line $i xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"; i=$((i+1)); done');
    spec.log = { ...spec.log, maxBytes: 40_000, maxFiles: 3 };
    await shim.start(spec);
    await shim.ended(spec.id);
    const files = readdirSync(join(folder.dir, 'logs')).sort();
    expect(files).toHaveLength(3);
    const text = [...files.slice(1), files[0]].map((name) => readFileSync(join(folder.dir, 'logs', name), 'utf8')).join('');
    const numbers = [...text.matchAll(/line (\d+)/g)].map((match) => Number(match[1]));
    expect(numbers.at(-1)).toBe(2999);
    expect(numbers).toEqual(numbers.map((_, index) => numbers[0] + index));
  });

  it('a moved log is begun anew when told', async () => {
    const spec = shell('echo one; read x; echo two', { stdin: true });
    await shim.start(spec);
    await eventually(
      () => existsSync(spec.log.path) && logOf(spec).length,
      (lines) => lines === 1,
    );
    renameSync(spec.log.path, `${spec.log.path}.old`);
    await shim.reopenLog(spec.id);
    const streams = await shim.attach(spec.id);
    streams.stdin!.write('go\n');
    await shim.ended(spec.id);
    expect(logOf(spec)).toEqual(['stdout F two']);
  });

  it('ten megabytes without a newline arrive in parts, and the shim stays small', async () => {
    const spec = shell('head -c 10000000 /dev/zero | tr "\\0" x; echo; echo done');
    await shim.start(spec);
    await shim.ended(spec.id);
    const lines = logOf(spec);
    const text = lines.filter((line) => line.startsWith('stdout P ')).reduce((sum, line) => sum + line.length - 'stdout P '.length, 0);
    expect(lines.at(-1)).toBe('stdout F done');
    expect(text + lines.at(-2)!.length - 'stdout F '.length).toBe(10_000_000);
    const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${folder.shimPid()}/status`, 'utf8'))![1]);
    expect(rss).toBeLessThan(120_000);
  });

  it('a log that cannot be written does not hurt the program, and it is said once', async () => {
    // A folder in the way, also for root.
    const spec = shell('echo one; echo two; sleep 0.1; echo three; exit 4');
    mkdirSync(spec.log.path, { recursive: true });
    await shim.start(spec);
    expect((await shim.ended(spec.id)).exitCode).toBe(4);
    const said = readFileSync(join(folder.dir, 'shim', 'shim.log'), 'utf8');
    expect(said.match(/Cannot write the log/g)).toHaveLength(1);
  });
});

describe('attach', () => {
  it('attach gives what comes from now on, and the end', async () => {
    const spec = shell('echo before; read line; echo "got $line"; echo err >&2; exit 6', { stdin: true });
    await shim.start(spec);
    await eventually(
      () => existsSync(spec.log.path) && logOf(spec).length,
      (lines) => lines === 1,
    );
    const streams = await shim.attach(spec.id);
    const [out, err] = [textOf(streams.stdout), textOf(streams.stderr!)];
    streams.stdin!.write('hello\n');
    expect(await streams.ended).toEqual({ exitCode: 6 });
    expect([await out, await err]).toEqual(['got hello\n', 'err\n']);
  });

  it('input stays open after a client leaves, unless it is for one client only', async () => {
    const many = shell('cat; echo end', { stdin: true });
    const once = shell('cat; echo end', { stdin: true, stdinOnce: true });
    for (const spec of [many, once]) {
      await shim.start(spec);
      const streams = await shim.attach(spec.id);
      streams.stdin!.end('text\n');
      await eventually(
        () => existsSync(spec.log.path) && logOf(spec),
        (lines) => lines !== false && lines.includes('stdout F text'),
      );
      streams.close();
    }
    expect((await shim.ended(once.id)).exitCode).toBe(0);
    expect(logOf(once)).toEqual(['stdout F text', 'stdout F end']);
    expect((await shim.list()).find(({ id }) => id === many.id)!.end).toBeUndefined();
  });

  it('a client that does not read misses output instead of stopping the log', async () => {
    const spec = shell('read x; head -c 5000000 /dev/zero | tr "\\0" x | fold -w 999; echo last', { stdin: true });
    await shim.start(spec);
    const streams = await shim.attach(spec.id);
    streams.stdin!.write('go\n');
    expect((await shim.ended(spec.id)).exitCode).toBe(0);
    expect(logOf(spec).at(-1)).toContain('last');
    expect(await textOf(streams.stdout)).toContain('bytes of output left out');
  });

  it('attach to one that has ended gives only its end', async () => {
    const spec = shell('exit 9');
    await shim.start(spec);
    await shim.ended(spec.id);
    const streams = await shim.attach(spec.id);
    expect([await streams.ended, await textOf(streams.stdout)]).toEqual([{ exitCode: 9 }, '']);
  });
});

describe('terminals', () => {
  it('a program with a terminal sees its size, its changes, and Ctrl-C', async () => {
    const spec = shell('trap "echo interrupted; exit 8" INT; trap "stty size" WINCH; while :; do tty; sleep 0.05; done', {
      terminal: true,
      stdin: true,
    });
    await shim.start(spec);
    const streams = await shim.attach(spec.id);
    const out = new StreamText(streams.stdout);
    // Its traps are set before it says where it is; it says so again and again, for whoever attaches late.
    await eventually(
      () => out.text,
      (text) => text.includes('/dev/pts'),
    );
    streams.resize(120, 40);
    await eventually(
      () => out.text,
      (text) => text.includes('40 120'),
    );
    streams.stdin!.write('\x03');
    expect(await streams.ended).toEqual({ exitCode: 8 });
    expect(await out.ended).toContain('interrupted');
    expect(streams.stderr).toBeUndefined();
  });
});

describe('run', () => {
  it('run gives streams and an exit code and leaves no record', async () => {
    const streams = await shim.run(transient('cat; echo err >&2; exit 4', { stdin: true }));
    const [out, err] = [textOf(streams.stdout), textOf(streams.stderr!)];
    streams.stdin!.end('input');
    expect(await streams.ended).toEqual({ exitCode: 4 });
    expect([await out, await err]).toEqual(['input', 'err\n']);
    expect(await shim.list()).toEqual([]);
  });

  it('run loses nothing, however slowly the client reads', async () => {
    const streams = await shim.run(transient('head -c 3000000 /dev/zero'));
    await sleep(700);
    let bytes = 0;
    for await (const piece of streams.stdout) bytes += (piece as Buffer).length;
    expect(bytes).toBe(3_000_000);
    expect(await streams.ended).toEqual({ exitCode: 0 });
  });

  it('the end of a run comes after everything it has said', async () => {
    const streams = await shim.run(transient('head -c 200000 /dev/zero; head -c 200000 /dev/zero >&2'));
    let bytes = 0;
    streams.stdout.on('data', (piece: Buffer) => (bytes += piece.length));
    streams.stderr!.on('data', (piece: Buffer) => (bytes += piece.length));
    await streams.ended;
    expect(bytes).toBe(400_000);
  });

  it('run takes input of any length', async () => {
    const streams = await shim.run(transient('wc -c', { stdin: true }));
    streams.stdin!.end(Buffer.alloc(3_000_000));
    expect((await textOf(streams.stdout)).trim()).toBe('3000000');
  });

  it('a run program is killed with its children when its streams are closed or its client is gone', async () => {
    const other = await folder.connect();
    const runs = [await shim.run(transient('sleep 300 & echo $!; wait')), await other.run(transient('sleep 300 & echo $!; wait'))];
    const pids = await Promise.all(runs.map(async ({ stdout }) => Number(String((await stdout[Symbol.asyncIterator]().next()).value))));
    expect(pids.map(isRunning)).toEqual([true, true]);
    runs[0].close();
    other.close();
    await eventually(
      () => pids.map(isRunning),
      (running) => !running.includes(true),
    );
  });

  it('run with a terminal has one output and a size', async () => {
    const streams = await shim.run(transient('read x; stty size; exit 2', { terminal: true, stdin: true }));
    streams.resize(90, 30);
    streams.stdin!.write('\n');
    const text = textOf(streams.stdout);
    expect(await streams.ended).toEqual({ exitCode: 2 });
    expect(await text).toContain('30 90');
  });

  it('run rejects when there is no such program', async () => {
    expect(await codeOf(shim.run({ ...transient(''), argv: ['no-such-program'] }))).toBe('CommandNotFound');
  });
});

describe('OCI runtimes', () => {
  /** Does what a runtime does: leaves a process behind, says which one, and exits. */
  const runtime = (script: string, pidFile: string) => `setsid sh -c '${script}' & echo $! > ${pidFile}`;

  it('the process that a runtime leaves is the program', async () => {
    const pidFile = join(folder.dir, 'pid');
    const spec = shell(runtime('echo inside; sleep 0.2; exit 11', pidFile), { pidFile });
    const { pid } = await shim.start(spec);
    expect(pid).toBe(Number(readFileSync(pidFile, 'utf8')));
    expect((await shim.ended(spec.id)).exitCode).toBe(11);
    expect(logOf(spec)).toEqual(['stdout F inside']);
  });

  it('a container that ends before its runtime does keeps its exit code', async () => {
    const pidFile = join(folder.dir, 'pid');
    const spec = shell(`(${runtime('exit 12', pidFile)}); sleep 0.3`, { pidFile });
    await shim.start(spec);
    expect((await shim.ended(spec.id)).exitCode).toBe(12);
  });

  it('start rejects with the words of a runtime that fails', async () => {
    const pidFile = join(folder.dir, 'pid');
    await expect(shim.start(shell('echo "runc: no such rootfs" >&2; exit 1', { pidFile }))).rejects.toThrow('runc: no such rootfs');
    expect(await shim.list()).toEqual([]);
  });
});

describe('lifetime', () => {
  it('two who start a shim at the same time end up with one', async () => {
    const racing = await makeShimFolder();
    try {
      const clients = await Promise.all([racing.connect(), racing.connect(), racing.connect()]);
      expect(shimsOf(racing.dir)).toHaveLength(1);
      expect(await Promise.all(clients.map((client) => client.list()))).toEqual([[], [], []]);
    } finally {
      await racing.dispose();
    }
  });

  it('a client that comes later finds what runs and what has ended', async () => {
    const running = shell('exec sleep 60', { labels: { pod: 'a' } });
    const ended = shell('exit 7', { labels: { pod: 'b' } });
    await shim.start(running);
    await shim.start(ended);
    await shim.ended(ended.id);
    shim.close();
    const later = await folder.connect();
    const states = await later.list();
    expect(states.map(({ id, labels, end }) => [id, labels, end?.exitCode])).toEqual([
      [running.id, { pod: 'a' }, undefined],
      [ended.id, { pod: 'b' }, 7],
    ]);
    expect((await later.ended(ended.id)).exitCode).toBe(7);
  });

  it('a shim that was killed is replaced: what ran is lost, what had ended is known', async () => {
    const running = shell('exec sleep 60');
    const ended = shell('exit 7');
    const { pid } = await shim.start(running);
    await shim.start(ended);
    await shim.ended(ended.id);
    const waiting = codeOf(shim.ended(running.id));
    process.kill(folder.shimPid()!, 'SIGKILL');
    expect(await waiting).toBe('Disconnected');
    expect(await shim.ended(running.id)).toMatchObject({ exitCode: 137, lost: true });
    expect((await shim.ended(ended.id)).exitCode).toBe(7);
    expect(isRunning(pid)).toBe(false);
    await shim.forget(running.id);
    expect((await shim.list()).map(({ id }) => id)).toEqual([ended.id]);
  });

  it('the socket and its folder are for the owner only', () => {
    expect(statSync(join(folder.dir, 'shim.sock')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder.dir, 'shim')).mode & 0o077).toBe(0);
  });

  it('a stranger who sends nonsense is cut off and nobody notices', async () => {
    const { createConnection } = await import('node:net');
    const stranger = createConnection(join(folder.dir, 'shim.sock'));
    stranger.on('error', () => undefined);
    stranger.write('GET / HTTP/1.1\r\n\r\n');
    await new Promise((resolve) => void stranger.once('close', resolve));
    expect(await shim.list()).toEqual([]);
  });

  it('many programs start at once and all report', async () => {
    const specs = Array.from({ length: 60 }, (_, index) => shell(`echo ${index}; exit ${index % 7}`));
    await Promise.all(specs.map((spec) => shim.start(spec)));
    const ends = await Promise.all(specs.map(({ id }) => shim.ended(id)));
    expect(ends.map(({ exitCode }) => exitCode)).toEqual(specs.map((_, index) => index % 7));
    expect(specs.map((spec) => logOf(spec)[0])).toEqual(specs.map((_, index) => `stdout F ${index}`));
  });
});
