import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { LogWriter } from './log-writer.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-log-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function writerTo(path: string, limits: { maxBytes?: number; maxFiles?: number } = {}) {
  const warnings: string[] = [];
  let rooms = 0;
  const writer = new LogWriter({
    file: { path, maxBytes: 1_000_000, maxFiles: 3, ...limits },
    clock: new FakeClock('2026-01-01T00:00:00Z'),
    warn: (message) => void warnings.push(message),
    onRoom: () => void rooms++,
  });
  return { writer, warnings, rooms: () => rooms };
}

const texts = (path: string) => readFileSync(path, 'utf8').replaceAll(/^\S+Z /gm, '');

describe('LogWriter', () => {
  it('makes the folder and the file before the first line', async () => {
    const path = join(folder, 'deep', '0.log');
    const { writer } = writerTo(path);
    await writer.close();
    expect(readFileSync(path, 'utf8')).toBe('');
  });

  it('goes on in a file that is there', async () => {
    const path = join(folder, '0.log');
    writeFileSync(path, 'T stdout F before\n');
    const { writer } = writerTo(path);
    writer.write('stdout', Buffer.from('after\n'));
    await writer.close();
    expect(readFileSync(path, 'utf8')).toBe('T stdout F before\n2026-01-01T00:00:00.000000000Z stdout F after\n');
  });

  it('begins a new file before one grows over its size, and removes the oldest', async () => {
    const path = join(folder, '0.log');
    // Each line has 48 bytes: two fit.
    const { writer } = writerTo(path, { maxBytes: 100, maxFiles: 3 });
    for (let line = 0; line < 9; line++) writer.write('stdout', Buffer.from(`line ${line}\n`));
    await writer.close();
    expect(readdirSync(folder).sort()).toEqual(['0.log', '0.log.20260101-000000.002', '0.log.20260101-000000.003']);
    expect(texts(path)).toBe('stdout F line 8\n');
    expect(texts(`${path}.20260101-000000.003`)).toBe('stdout F line 6\nstdout F line 7\n');
  });

  it('writes a line that is longer than a file may be', async () => {
    const path = join(folder, '0.log');
    const { writer } = writerTo(path, { maxBytes: 20 });
    writer.write('stdout', Buffer.from('longer than twenty bytes\nand another\n'));
    await writer.close();
    expect(texts(path)).toBe('stdout F and another\n');
  });

  it('asks its source to wait when the disk is behind, and to go on after', async () => {
    const { writer, rooms } = writerTo(join(folder, '0.log'), { maxBytes: 1e9 });
    const chunk = Buffer.alloc(600_000, 'x');
    expect([writer.write('stdout', chunk), writer.write('stdout', chunk)]).toEqual([true, false]);
    await writer.close();
    expect(rooms()).toBe(1);
  });

  it.runIf(existsSync('/dev/full'))('loses lines on a full disk and says so once', async () => {
    const { writer, warnings } = writerTo('/dev/full');
    writer.write('stdout', Buffer.from('one\n'));
    await writer.reopen();
    writer.write('stdout', Buffer.from('two\n'));
    await writer.close();
    expect(warnings).toEqual([expect.stringContaining('ENOSPC')]);
  });

  it('tells in the log what is missing, when it can write again', async () => {
    const path = join(folder, 'file', '0.log');
    // A file where the folder should be: nothing can be written until it is gone.
    writeFileSync(join(folder, 'file'), '');
    const { writer, warnings } = writerTo(path);
    writer.write('stdout', Buffer.from('lost\n'));
    await writer.reopen();
    rmSync(join(folder, 'file'));
    writer.write('stdout', Buffer.from('kept\n'));
    await writer.close();
    expect(texts(path)).toMatch(/^stderr F \[tenantry: \d+ bytes of log are missing here.*\]\nstdout F kept\n$/);
    expect(warnings).toHaveLength(1);
  });
});
