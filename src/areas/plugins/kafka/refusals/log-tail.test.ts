import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LogTail } from './log-tail.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-tail-'));
  path = join(folder, 'log');
  writeFileSync(path, 'before\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('LogTail reads what comes after its first look, in whole lines', async () => {
  const tail = new LogTail();
  expect(await tail.read(path)).toEqual([]);
  appendFileSync(path, 'one\ntw');
  expect(await tail.read(path)).toEqual(['one']);
  appendFileSync(path, 'o\n');
  expect(await tail.read(path)).toEqual(['two']);
  expect(await tail.read(path)).toEqual([]);
});

test('LogTail reads a file that took the place of another from its beginning', async () => {
  const tail = new LogTail();
  await tail.read(path);
  renameSync(path, `${path}.1`);
  writeFileSync(path, 'a longer line than the one before\n');
  expect(await tail.read(path)).toEqual(['a longer line than the one before']);
});

test('LogTail reads no more than the end of a flood', async () => {
  const tail = new LogTail();
  await tail.read(path);
  appendFileSync(path, `${'x'.repeat(3_000_000)}\nlast\n`);
  expect((await tail.read(path)).at(-1)).toBe('last');
});
