import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { Child, ChildOptions, StartChild } from './child.ts';
import { startNodeChild } from './node-child.ts';
import { posixCalls } from './posix-calls.ts';
import { posixChildren } from './posix-child.ts';

const calls = posixCalls();
const posix = calls && posixChildren(calls);
const ways: [string, StartChild][] = [
  ['as Node does', startNodeChild],
  ...(posix ? [['by posix_spawn', posix.start] as [string, StartChild]] : []),
];
const options: ChildOptions = { cwd: '/', env: { PATH: process.env['PATH'] ?? '' }, listens: false };

async function resultOf(child: Child) {
  const closed = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await closed;
  const { exitCode, signalCode } = child;
  return { stdout, stderr, exitCode, signalCode };
}

describe.each(ways)('a child started %s', (_name, start) => {
  const shell = (script: string, more: Partial<ChildOptions> = {}) => start(['sh', '-c', script], { ...options, ...more });

  it('tells its output and exit code', async () => {
    const result = await resultOf(shell('echo out; echo err >&2; exit 3'));
    expect(result).toEqual({ stdout: 'out\n', stderr: 'err\n', exitCode: 3, signalCode: null });
  });

  it('tells the signal that ended it', async () => {
    expect(await resultOf(shell('kill -USR1 $$'))).toMatchObject({ exitCode: null, signalCode: 'SIGUSR1' });
  });

  it('is in a session and a group of its own, where it was asked to be, with the environment that it was given', async () => {
    const child = shell('echo $$ $(cut -d" " -f5,6 /proc/$$/stat) "$PWD" "$A"', { cwd: '/usr', env: { ...options.env, A: 'b c' } });
    const { stdout } = await resultOf(child);
    expect(stdout).toBe(`${child.pid} ${child.pid} ${child.pid} /usr b c\n`);
  });

  it('finds nothing to read, and dies of a broken pipe as programs do', async () => {
    const { stdout } = await resultOf(shell("cat; yes | head -1; trap - PIPE; (kill -PIPE $(exec sh -c 'echo $PPID'); echo alive)"));
    expect(stdout).toBe('y\n');
  });

  it.each([
    ['short', 10],
    ['long', 1 << 20],
  ])('is told a message, however %s', async (_length, length) => {
    const child = shell('cat <&3 | wc -c', { listens: true });
    child.tell('x'.repeat(length));
    expect((await resultOf(child)).stdout.trim()).toBe(String(length));
  });

  it('finds the files that it was given', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tenantry-child-'));
    try {
      writeFileSync(join(folder, 'file'), 'inside');
      const child = shell('cat <&4', { listens: true, files: [openSync(join(folder, 'file'), 'r')] });
      expect((await resultOf(child)).stdout).toBe('inside');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("are all told to have ended, when many end at once beside one of Node's own", async () => {
    const other = spawn('sh', ['-c', 'exit 7']);
    const children = Array.from({ length: 12 }, (_, index) => shell(`exit ${index}`));
    const codes = await Promise.all(children.map(async (child) => (await resultOf(child)).exitCode));
    expect(codes).toEqual(children.map((_, index) => index));
    expect(other.exitCode ?? (await once(other, 'exit'))[0]).toBe(7);
  });

  it("takes its group with it; a signal to a group that is gone is nobody's concern", async () => {
    const child = shell('sleep 60 & echo $!; wait');
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    child.killGroup('SIGTERM');
    expect(await resultOf(child)).toMatchObject({ signalCode: 'SIGTERM' });
    child.killGroup('SIGKILL');
    await expect.poll(() => existsSync(`/proc/${line.toString().trim()}`), { timeout: 10_000 }).toBe(false);
  });

  it('says that there is no such program', async () => {
    const child = start(['no-such-program'], { ...options, env: { PATH: '/usr/bin' } });
    const [error] = (await once(child, 'error')) as [NodeJS.ErrnoException];
    expect(error).toMatchObject({ code: 'ENOENT', path: 'no-such-program' });
    expect(await child.started).toBe(false);
  });
});

describe.runIf(posix !== undefined)('an orphan', () => {
  // Not before: those of the tests above are left to whoever takes them.
  const orphans = () => posix!.orphans()!;

  it('is ended, and waited for', async () => {
    const taken = orphans();
    const { stdout } = await resultOf(posix!.start(['sh', '-c', 'sleep 60 >/dev/null 2>&1 & echo $!'], options));
    const pid = Number(stdout);
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    await taken.end(pid);
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });

  it('that is none of ours is let live', async () => {
    await orphans().end(1);
    expect(existsSync('/proc/1')).toBe(true);
  });
});
