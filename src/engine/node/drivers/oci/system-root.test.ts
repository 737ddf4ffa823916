import { lstatSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSystemRoot } from './system-root.ts';

let layer: string;
beforeAll(() => void (layer = mkdtempSync(join(tmpdir(), 'system-root-'))));
afterAll(() => rmSync(layer, { recursive: true }));

test('makeSystemRoot shows programs read-only at their own paths, unless the machine’s folders show them already', async () => {
  const { mounts } = await makeSystemRoot(layer, ['/opt/product/dist', '/usr/bin/env']);
  expect(mounts.every(({ readOnly, source, target }) => readOnly && source === target)).toBe(true);
  const targets = mounts.map(({ target }) => target);
  expect(targets).toContain('/usr');
  expect(targets).toContain('/opt/product/dist');
  expect(targets).not.toContain('/usr/bin/env');
});

test('makeSystemRoot shows nothing secret of the machine', async () => {
  const { mounts } = await makeSystemRoot(layer, []);
  for (const secret of ['/', '/etc', '/root', '/home', '/var', '/etc/shadow', '/etc/ssl', '/etc/ssl/private'])
    expect(mounts.map(({ target }) => target)).not.toContain(secret);
});

test('makeSystemRoot can be made again, with a folder for everybody’s files', async () => {
  await makeSystemRoot(layer, []);
  await makeSystemRoot(layer, []);
  expect(statSync(join(layer, 'tmp')).mode & 0o7777).toBe(0o1777);
  // Where the machine's /bin is a link, it is one here.
  expect(lstatSync('/bin').isSymbolicLink()).toBe(lstatSync(join(layer, 'bin'), { throwIfNoEntry: false })?.isSymbolicLink() ?? false);
});
