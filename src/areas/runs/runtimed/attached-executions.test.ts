import { EventEmitter } from 'node:events';
import { status, type ClientDuplexStream } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../lib/clock-fake.ts';
import type { AttachEvent } from '../protocol/generated/executor_pb.js';
import { AttachedExecutions } from './attached-executions.ts';

/** A server that is played by the test. */
class Stream extends EventEmitter {
  readonly sent: object[] = [];

  write({ request }: { request: object }): void {
    this.sent.push(request);
  }

  say(id: string, name: string, value: object = {}): void {
    this.emit('data', { id, event: { case: name, value } });
  }

  breaks(code: status): void {
    this.emit('error', Object.assign(new Error(status[code]), { code, details: status[code] }));
  }
}

function attach() {
  const streams: Stream[] = [];
  const clock = new FakeClock();
  const attached = new AttachedExecutions({
    open() {
      streams.push(new Stream());
      return streams.at(-1) as unknown as ClientDuplexStream<object, AttachEvent>;
    },
    clock,
    patienceMs: 1000,
    onError: () => {},
  });
  const heard: string[] = [];
  const follow = (id: string, signal = new AbortController().signal) =>
    attached.follow(id, (stream, data) => heard.push(`${stream}: ${Buffer.from(data).toString()}`), signal);
  return { attached, streams, clock, heard, follow };
}

const output = (text: string) => ({ stream: 'stdout', data: Buffer.from(text) });

describe('AttachedExecutions', () => {
  it('tells what was said before somebody listened, and the end', async () => {
    const { attached, streams, heard, follow } = attach();
    const started = attached.execute('a', { id: 'a' });
    streams[0].say('a', 'started', { warm: true });
    streams[0].say('a', 'output', output('x'));
    expect(await started).toEqual({ warm: true });
    const end = follow('a');
    streams[0].say('b', 'output', output('of another'));
    streams[0].say('a', 'output', output('y'));
    streams[0].say('a', 'end', { exitCode: 7 });
    expect(await end).toEqual({ exitCode: 7 });
    expect(heard).toEqual(['stdout: x', 'stdout: y']);
  });

  it('does not take the end of an execution for that of the one that replaces it', async () => {
    const { attached, streams, follow } = attach();
    const started = attached.execute('a', {});
    streams[0].say('a', 'end', { exitCode: 1 });
    streams[0].say('a', 'started');
    await started;
    const end = follow('a');
    streams[0].say('a', 'end', { exitCode: 0 });
    expect(await end).toEqual({ exitCode: 0 });
  });

  it('watches on from where it was when the stream broke', async () => {
    const { attached, streams, heard, follow } = attach();
    const started = attached.execute('a', {});
    streams[0].say('a', 'started');
    await started;
    const end = follow('a');
    streams[0].say('a', 'output', output('four'));
    streams[0].breaks(status.UNAVAILABLE);
    await Promise.resolve();
    expect(streams[1].sent).toEqual([{ case: 'watch', value: { id: 'a', stdoutOffset: 4n, stderrOffset: 0n } }]);
    await Promise.resolve();
    streams[1].say('a', 'output', output('five'));
    streams[1].say('a', 'end', { exitCode: 0 });
    await end;
    expect(heard).toEqual(['stdout: four', 'stdout: five']);
  });

  it('fails a start that was under way when the stream broke', async () => {
    const { attached, streams } = attach();
    const started = attached.execute('a', {});
    streams[0].breaks(status.UNAVAILABLE);
    await expect(started).rejects.toMatchObject({ code: status.UNAVAILABLE });
  });

  it('fails a start that is not answered in time', async () => {
    const { attached, clock } = attach();
    const started = attached.execute('a', {});
    const expired = expect(started).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
    await clock.advance(1000);
    await expired;
  });

  it('passes on what the server refuses', async () => {
    const { attached, streams, follow } = attach();
    const started = attached.execute('a', {});
    streams[0].say('a', 'refused', { code: status.FAILED_PRECONDITION, message: 'no isolation' });
    await expect(started).rejects.toMatchObject({ code: status.FAILED_PRECONDITION, details: 'no isolation' });
    const end = follow('gone');
    streams[0].say('gone', 'refused', { code: status.NOT_FOUND, message: 'not found' });
    await expect(end).rejects.toMatchObject({ code: status.NOT_FOUND });
  });

  it('remembers that the server has no such method', async () => {
    const { attached, streams } = attach();
    const started = attached.execute('a', {});
    streams[0].breaks(status.UNIMPLEMENTED);
    await expect(started).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
    expect(attached.isUnimplemented).toBe(true);
  });

  it('stops to follow when the signal fires', async () => {
    const { attached, streams, follow } = attach();
    const started = attached.execute('a', {});
    streams[0].say('a', 'started');
    await started;
    const stop = new AbortController();
    const end = follow('a', stop.signal);
    stop.abort(new Error('enough'));
    await expect(end).rejects.toThrow('enough');
  });
});
