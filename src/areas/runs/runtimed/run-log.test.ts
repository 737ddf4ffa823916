import { describe, expect, it } from 'vitest';
import { RunLog } from './run-log.ts';

function aLog() {
  const lines: string[] = [];
  const run = {
    apiVersion: 'kruntimes.io/v1alpha1',
    kind: 'Run',
    metadata: { name: 'r', namespace: 'ns', uid: 'u-1' },
    spec: { runtime: 'bash', mode: { task: {} } },
  };
  const log = new RunLog(
    run,
    'pod-1',
    () => new Date('2026-01-01T00:00:00.123Z'),
    (line) => lines.push(line),
  );
  return { log, lines, messages: () => lines.map((line) => JSON.parse(line).message) };
}

describe('RunLog', () => {
  it('prints one JSON object per line, keys in the order of the original', () => {
    const { log, lines } = aLog();
    log.write('stdout', Buffer.from('hello\nwor'));
    expect(lines).toEqual([
      '{"run_uid":"u-1","run_name":"r","namespace":"ns","runtime":"bash","pod":"pod-1","stream":"stdout","message":"hello","time":"2026-01-01T00:00:00.123Z"}\n',
    ]);
    log.write('stdout', Buffer.from('ld'));
    log.flush();
    expect(JSON.parse(lines[1])).toMatchObject({ message: 'world', stream: 'stdout', partial: true });
  });

  it('keeps streams apart, characters whole, empty lines out', () => {
    const { log, messages } = aLog();
    const euro = Buffer.from('€\n');
    log.write('stdout', euro.subarray(0, 1));
    log.write('stderr', Buffer.from('\n\nerr\n'));
    log.write('stdout', euro.subarray(1));
    expect(messages()).toEqual(['err', '€']);
  });

  it('says with a line how many empty ones were before it, in its own stream', () => {
    const { log, lines } = aLog();
    log.write('stdout', Buffer.from('a\n\n\n'));
    log.write('stderr', Buffer.from('e\n'));
    log.write('stdout', Buffer.from('b\nc\n'));
    expect(lines.map((line) => JSON.parse(line)).map(({ message, blank }) => [message, blank])).toEqual([
      ['a', undefined],
      ['e', undefined],
      ['b', 2],
      ['c', undefined],
    ]);
  });

  it('a line without end is printed in parts', () => {
    const { log, messages } = aLog();
    for (let i = 0; i < 10; i++) log.write('stdout', Buffer.alloc(100 << 10, 'x'));
    expect(messages().length).toBeGreaterThan(10);
  });

  it('a short output goes into the status whole', () => {
    const { log } = aLog();
    log.write('stdout', Buffer.from('a\n'));
    log.write('stderr', Buffer.from('b\n'));
    expect(log.summary()).toEqual({ log: { text: 'a\nb\n', lines: 2 } });
    expect(aLog().log.summary()).toEqual({});
  });

  it('of a long one the end, and more of it elsewhere, bounded', () => {
    const { log } = aLog();
    for (let i = 0; i < 2000; i++) log.write('stdout', Buffer.from(`${i} ${'€'.repeat(200)}\n`));
    const { log: inline, overflow } = log.summary();
    expect(inline).toMatchObject({ truncated: true, lines: 2000 });
    expect(Buffer.byteLength(inline!.text)).toBeLessThanOrEqual(8 << 10);
    expect(Buffer.byteLength(overflow!)).toBeLessThanOrEqual(512 << 10);
    expect(inline!.text.endsWith(`1999 ${'€'.repeat(200)}\n`)).toBe(true);
    expect(inline!.text).not.toContain('\uFFFD');
  });
});
