import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { linesOfRun, lineText, type LogLine } from './log-lines.ts';

const entry = (fields: object) => `${JSON.stringify({ run_uid: 'u-1', run_name: 'r', stream: 'stdout', message: 'm', ...fields })}\n`;

async function read(...chunks: (string | Buffer)[]): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  for await (const line of linesOfRun(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), 'u-1')) lines.push(line);
  return lines;
}

describe('linesOfRun', () => {
  it('leaves out other Runs, other programs and what only mentions the Run', async () => {
    const text = [
      entry({ message: 'mine' }),
      entry({ run_uid: 'u-2', message: 'speaks of "u-1"' }),
      'not json "u-1"\n',
      entry({ message: 7 }),
      entry({ stream: 'stderr', message: 'too' }),
    ];
    expect(await read(text.join(''))).toEqual([
      { stream: 'stdout', message: 'mine' },
      { stream: 'stderr', message: 'too' },
    ]);
  });

  it('puts lines and characters together that come in pieces, and takes the last without an end', async () => {
    const bytes = Buffer.from(entry({ message: 'a€b' }) + entry({ message: 'last' }).trimEnd());
    const pieces = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
    expect((await read(...pieces)).map(({ message }) => message)).toEqual(['a€b', 'last']);
  });

  it('takes a line of the original, without time', async () => {
    expect(await read(entry({}))).toEqual([{ stream: 'stdout', message: 'm' }]);
    expect(await read(entry({ time: '2026-01-01T00:00:00.5Z', blank: 2, partial: true }))).toEqual([
      { stream: 'stdout', message: 'm', time: Date.parse('2026-01-01T00:00:00.5Z'), blank: 2, partial: true },
    ]);
  });

  it('closes the log when nobody wants more', async () => {
    const log = Readable.from([Buffer.from(entry({})), Buffer.from(entry({}))]);
    for await (const _ of linesOfRun(log, 'u-1')) break;
    expect(log.destroyed).toBe(true);
  });
});

describe('lineText', () => {
  it('is the line as it was written', () => {
    expect(lineText({ stream: 'stdout', message: 'a' })).toBe('a\n');
    expect(lineText({ stream: 'stdout', message: 'a', blank: 2, partial: true })).toBe('\n\na');
  });
});
