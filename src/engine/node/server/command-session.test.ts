import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { FakeClock, settle } from '../../../lib/clock-fake.ts';
import type { ProgramStreams } from '../shim/shim.ts';
import { exitStatus, runSession, type CommandConnection, type CommandStatus } from './command-session.ts';

function scene() {
  const clock = new FakeClock();
  let end = (_exitCode: number): void => {};
  let fail = (_error: Error): void => {};
  let leave = (): void => {};
  const log: string[] = [];
  const program: ProgramStreams & { stdin: PassThrough; stdout: PassThrough; stderr: PassThrough } = {
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    resize: (columns, rows) => void log.push(`resize ${columns}x${rows}`),
    ended: new Promise((resolve, reject) => {
      end = (exitCode) => resolve({ exitCode });
      fail = reject;
    }),
    close: () => void log.push('program closed'),
  };
  const statuses: CommandStatus[] = [];
  const connection: CommandConnection & { stdin: PassThrough; stdout: PassThrough; stderr: PassThrough; resize: PassThrough } = {
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    resize: new PassThrough(),
    closed: new Promise<void>((resolve) => (leave = resolve)),
    finish: (status) => {
      statuses.push(status);
      leave();
    },
  };
  const run = (reportsExitCode = true) => runSession(program, connection, { clock, reportsExitCode });
  const closeOutputs = (): void => {
    program.stdout.end();
    program.stderr.end();
  };
  return { clock, program, connection, statuses, log, run, end, fail, leave, closeOutputs };
}

describe('runSession', () => {
  it('carries all streams and tells the exit code after the output', async () => {
    const { program, connection, statuses, run, end, closeOutputs, log } = scene();
    const over = run();
    connection.stdin.end('input');
    connection.resize.write('{"Width":80,"Height":24}');
    program.stdout.write('out');
    program.stderr.write('err');
    expect(await text(program.stdin)).toBe('input');
    end(3);
    await settle();
    expect(statuses).toEqual([]);
    closeOutputs();
    await over;
    expect(statuses).toEqual([exitStatus(3)]);
    expect(connection.stdout.read()?.toString()).toBe('out');
    expect(connection.stderr.read()?.toString()).toBe('err');
    expect(log).toContain('resize 80x24');
  });

  it('zero is success, and so is any end of an attached program', async () => {
    for (const [exitCode, reports] of [
      [0, true],
      [5, false],
    ] as const) {
      const { statuses, run, end, closeOutputs } = scene();
      const over = run(reports);
      end(exitCode);
      closeOutputs();
      await over;
      expect(statuses).toEqual([{ metadata: {}, status: 'Success' }]);
    }
  });

  it('a child that keeps the output open is waited for only while it says something', async () => {
    const { program, statuses, run, end, clock } = scene();
    const over = run();
    end(0);
    await clock.advance(1500);
    program.stdout.write('late');
    program.stderr.end();
    await clock.advance(1500);
    expect(statuses).toEqual([]);
    await clock.advance(4000);
    await over;
    expect(statuses).toHaveLength(1);
  });

  it('a slow client gets everything, however long it takes', async () => {
    const { program, connection, statuses, run, end, closeOutputs, clock } = scene();
    const over = run();
    for (let piece = 0; piece < 20; piece++) program.stdout.write('x'.repeat(50_000));
    end(0);
    closeOutputs();
    await clock.advance(3_600_000);
    expect(statuses).toEqual([]);
    const received = text(connection.stdout);
    await over;
    connection.stdout.end();
    expect((await received).length).toBe(1_000_000);
  });

  it('a client that leaves ends the program, and is told nothing', async () => {
    const { statuses, run, leave, log, end, closeOutputs } = scene();
    const over = run();
    leave();
    await settle();
    expect(log).toEqual(['program closed']);
    end(137);
    closeOutputs();
    await over;
    expect(statuses).toEqual([]);
  });

  it('a program that is lost is an error', async () => {
    const { statuses, run, fail } = scene();
    const over = run();
    fail(new Error('the shim is gone'));
    await over;
    expect(statuses).toMatchObject([{ status: 'Failure', reason: 'InternalError', message: 'Internal error occurred: the shim is gone' }]);
  });
});
