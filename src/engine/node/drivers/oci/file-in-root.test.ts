import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pathInRoot, textInRoot } from './file-in-root.ts';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'root-'));
  mkdirSync(join(root, 'etc'));
  mkdirSync(join(root, 'real/inner'), { recursive: true });
  writeFileSync(join(root, 'etc/passwd'), 'inside');
  writeFileSync(join(root, 'real/file'), 'real');
  symlinkSync('/etc/passwd', join(root, 'absolute'));
  symlinkSync('../../../../../../etc/passwd', join(root, 'climbing'));
  symlinkSync('real/inner', join(root, 'folder'));
  symlinkSync('loop', join(root, 'loop'));
  symlinkSync('etc/pipe', join(root, 'to-pipe'));
  execFileSync('mkfifo', [join(root, 'etc/pipe')]);
});
afterAll(() => rmSync(root, { recursive: true }));

test.each([
  ['a plain path', '/etc/passwd', 'etc/passwd'],
  ['an absolute link', '/absolute', 'etc/passwd'],
  ['a link that climbs out', '/climbing', 'etc/passwd'],
  ['a path that climbs out', '/../../etc/passwd', 'etc/passwd'],
  ['a folder behind a link, and its parent', '/folder/../file', 'real/file'],
  ['what is not there', '/absent/file', 'absent/file'],
])('pathInRoot stays inside with %s', async (_, path, expected) => {
  expect(await pathInRoot(root, path)).toBe(join(root, expected));
});

test('pathInRoot gives up on links that lead to themselves', async () => {
  await expect(pathInRoot(root, '/loop')).rejects.toThrow('never end');
});

test.each([
  ['the text of a file', '/climbing', 'inside'],
  ['nothing, for what is not there', '/etc/group', ''],
  ['nothing, for a folder', '/etc', ''],
  ['nothing, for a pipe, and does not wait for it', '/to-pipe', ''],
])('textInRoot gives %s', async (_, path, expected) => {
  expect(await textInRoot(root, path)).toBe(expected);
});
