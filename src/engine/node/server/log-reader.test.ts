import { appendFile, mkdtemp, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { openLogs } from './log-files.ts';
import { readLog } from './log-reader.ts';
import { tailPosition } from './log-tail.ts';
import type { LogOptions } from './pod-access.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenantry-log-'));
  path = join(folder, '0.log');
});
afterEach(() => rm(folder, { recursive: true }));

const DEFAULTS: LogOptions = { follow: false, previous: false, timestamps: false, stream: 'All' };
const NEVER = new Promise(() => {});

let second = 0;
function line(body: string, tag: 'F' | 'P' = 'F'): string {
  second++;
  return `2026-11-15T12:${String(Math.floor(second / 60) % 60).padStart(2, '0')}:${String(second % 60).padStart(2, '0')}Z stdout ${tag} ${body}\n`;
}

function read(options: Partial<LogOptions>, ended: Promise<unknown> = NEVER, signal = new AbortController().signal) {
  return readLog({ path, options: { ...DEFAULTS, ...options }, ended, signal, clock: new FakeClock('2026-11-15T12:00:00Z') });
}

/** Gathers what a followed log says, and waits for it to say something. */
function listener(stream: NodeJS.ReadableStream) {
  let heard = '';
  let check = (): void => {};
  stream.on('data', (chunk: Buffer) => {
    heard += chunk.toString();
    check();
  });
  return (wanted: string) =>
    new Promise<void>((resolve) => {
      check = () => {
        if (heard.endsWith(wanted)) resolve();
      };
      check();
    });
}

describe('readLog', () => {
  it('reads the files that were moved away before the current one', async () => {
    await writeFile(`${path}.20261115-120000`, line('one'));
    await writeFile(`${path}.20261115-130000`, line('two'));
    await writeFile(path, line('three'));
    await writeFile(join(folder, '1.log'), line('of another attempt'));
    expect(await text(read({}))).toBe('one\ntwo\nthree\n');
    expect(await text(read({ tailLines: 2 }))).toBe('two\nthree\n');
    expect(await text(read({ tailLines: 0 }))).toBe('');
    expect(await text(read({ tailLines: 99 }))).toBe('one\ntwo\nthree\n');
  });

  it('a log that is not there is empty', async () => {
    expect(await text(read({}))).toBe('');
    expect(await text(read({ tailLines: 3 }))).toBe('');
  });

  it('ends after the bytes asked for', async () => {
    await writeFile(path, line('hello') + line('world'));
    expect(await text(read({ limitBytes: 8 }))).toBe('hello\nwo');
  });

  it('leaves out what is older than asked', async () => {
    await writeFile(path, '2026-11-15T11:58:00Z stdout F old\n2026-11-15T11:59:30Z stdout F new\n');
    expect(await text(read({ sinceSeconds: 60 }))).toBe('new\n');
    expect(await text(read({ sinceTime: '2026-11-15T11:59:00Z' }))).toBe('new\n');
  });

  it('the tail is where it is, whatever the lines and wherever the files were cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom<'F' | 'P'>('F', 'F', 'P'), fc.integer({ min: 0, max: 40_000 })), { maxLength: 12 }),
        fc.nat(12),
        fc.nat(12),
        async (shapes, cutAt, lines) => {
          const raw = shapes.map(([tag, size], index) => line(`${index}-`.padEnd(size, '.'), tag));
          await writeFile(`${path}.1`, raw.slice(0, cutAt).join(''));
          await writeFile(path, raw.slice(cutAt).join(''));
          const whole = await text(read({}));
          const all = whole.match(/[^\n]*\n|[^\n]+$/g) ?? [];
          expect(await text(read({ tailLines: lines }))).toBe(lines === 0 ? '' : all.slice(-lines).join(''));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('finds the tail of a large file without reading it', async () => {
    await writeFile(path, line('x'.repeat(100)).repeat(200_000) + line('last'));
    const logs = await openLogs(path);
    const { offset } = await tailPosition(logs, 1);
    expect(offset).toBeGreaterThan(20_000_000);
    await Promise.all(logs.map(({ handle }) => handle.close()));
  });

  it('a line of 10 MB in parts is one line, in small pieces', async () => {
    await writeFile(path, line('y'.repeat(16_384), 'P').repeat(640) + line('end'));
    let largest = 0;
    let size = 0;
    for await (const chunk of read({ timestamps: true })) {
      largest = Math.max(largest, (chunk as Buffer).length);
      size += (chunk as Buffer).length;
    }
    expect(size).toBe(640 * 16_384 + 'end\n'.length + '2026-11-15T12:00:00.000000000Z '.length);
    expect(largest).toBeLessThan(100_000);
  });
});

describe('readLog, following', () => {
  it('goes on as lines are written and ends when the container has', async () => {
    await writeFile(path, line('one'));
    let end = (): void => {};
    const stream = read({ follow: true }, new Promise<void>((resolve) => (end = resolve)));
    const hears = listener(stream);
    await hears('one\n');
    await appendFile(path, line('two'));
    await hears('two\n');
    await appendFile(path, line('three'));
    end();
    await hears('three\n');
    await new Promise((resolve) => stream.once('end', resolve));
  });

  it('begins with a file that is not there yet', async () => {
    const hears = listener(read({ follow: true }));
    await new Promise((resolve) => setTimeout(resolve, 20));
    await writeFile(path, line('first'));
    await hears('first\n');
  });

  it('follows the log through rotations, also those it did not see, and loses nothing', async () => {
    await writeFile(path, line('0'));
    let end = (): void => {};
    const stream = read({ follow: true }, new Promise<void>((resolve) => (end = resolve)));
    const heard: string[] = [];
    stream.on('data', (chunk: Buffer) => void heard.push(chunk.toString()));
    await listener(stream)('0\n');
    stream.pause();
    for (let index = 1; index <= 9; index++) {
      if (index % 3 === 0) {
        await appendFile(path, line(`${index}a`));
        await rename(path, `${path}.${index}`);
      }
      await appendFile(path, line(String(index)));
      if (index === 9) await unlink(`${path}.3`).catch(() => {});
    }
    end();
    stream.resume();
    await new Promise((resolve) => stream.once('end', resolve));
    expect(heard.join('')).toBe('0\n1\n2\n3a\n3\n4\n5\n6a\n6\n7\n8\n9a\n9\n');
  });

  it('starts at the tail', async () => {
    await writeFile(path, line('one') + line('two'));
    const stream = read({ follow: true, tailLines: 0 });
    const hears = listener(stream);
    await new Promise((resolve) => setTimeout(resolve, 30));
    await appendFile(path, line('three'));
    await hears('three\n');
    stream.destroy();
  });

  it('stops when the caller is gone', async () => {
    await writeFile(path, line('one'));
    const caller = new AbortController();
    const stream = read({ follow: true }, NEVER, caller.signal);
    await listener(stream)('one\n');
    const closed = new Promise((resolve) => stream.once('close', resolve));
    caller.abort();
    await closed;
  });
});
