import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { CriLines, logStamps, MAX_LINE_BYTES, wholeLinesWithin } from './cri-lines.ts';

const lines = () => new CriLines(() => 'T');
const long = 'x'.repeat(MAX_LINE_BYTES);

describe('CriLines', () => {
  it.each<[string, string[], string]>([
    ['whole lines', ['one\ntwo\n'], 'T stdout F one\nT stdout F two\n'],
    ['a line in pieces', ['o', 'ne', '\n'], 'T stdout F one\n'],
    ['an empty line', ['\n'], 'T stdout F \n'],
    ['a carriage return', ['one\r\n'], 'T stdout F one\r\n'],
    ['a line of the full length', [`${long}\n`], `T stdout F ${long}\n`],
    ['a line that is one longer', [`${long}y\n`], `T stdout P ${long}\nT stdout F y\n`],
    ['a long line in pieces', [long, 'y', '\n'], `T stdout P ${long}\nT stdout F y\n`],
  ])('take gives %s', (_name, chunks, expected) => {
    const splitter = lines();
    expect(chunks.map((chunk) => splitter.take('stdout', Buffer.from(chunk)).toString()).join('')).toBe(expected);
    expect(splitter.end('stdout').toString()).toBe('');
  });

  it('end gives what has no newline as a full line', () => {
    const splitter = lines();
    expect(splitter.take('stderr', Buffer.from('oops')).toString()).toBe('');
    expect(splitter.end('stderr').toString()).toBe('T stderr F oops\n');
  });

  it('streams do not mix', () => {
    const splitter = lines();
    splitter.take('stdout', Buffer.from('out'));
    expect(splitter.take('stderr', Buffer.from('err\n')).toString()).toBe('T stderr F err\n');
    expect(splitter.take('stdout', Buffer.from('\n')).toString()).toBe('T stdout F out\n');
  });

  it('ten megabytes without a newline become parts that add up', () => {
    const splitter = lines();
    const chunk = Buffer.alloc(64 * 1024, 'z');
    let bytes = 0;
    for (let sent = 0; sent < 160; sent++) bytes += splitter.take('stdout', chunk).length;
    bytes += splitter.end('stdout').length;
    const parts = (160 * 64) / 16;
    expect(bytes).toBe(parts * (MAX_LINE_BYTES + 'T stdout P \n'.length));
  });
});

describe('logStamps', () => {
  it('times differ within a millisecond and follow the clock after it', async () => {
    const clock = new FakeClock('2026-01-01T00:00:00.123Z');
    const stamp = logStamps(clock);
    expect([stamp(), stamp()]).toEqual(['2026-01-01T00:00:00.123000000Z', '2026-01-01T00:00:00.123000001Z']);
    await clock.advance(1);
    expect(stamp()).toBe('2026-01-01T00:00:00.124000000Z');
  });

  it('times do not go back when the clock is corrected by a little', () => {
    let now = Date.parse('2026-01-01T00:00:00.500Z');
    const stamp = logStamps({ now: () => now, monotonic: () => 0, setTimer: () => ({ cancel() {} }) });
    stamp();
    now -= 300;
    expect(stamp()).toBe('2026-01-01T00:00:00.500000001Z');
    now -= 3_600_000;
    expect(stamp()).toBe('2025-12-31T23:00:00.200000000Z');
  });
});

describe('wholeLinesWithin', () => {
  it.each([
    ['everything when it fits', 12, 8],
    ['everything when it just fits', 8, 8],
    ['whole lines when it does not', 7, 4],
    ['nothing when not even a line fits', 3, 0],
    ['nothing when there is no room', 0, 0],
    ['nothing when there is less than no room', -5, 0],
  ])('wholeLinesWithin gives %s', (_name, limit, expected) => {
    expect(wholeLinesWithin(Buffer.from('one\ntwo\n'), limit)).toBe(expected);
  });
});
