import { lstatSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSystemRoot } from './system-root.ts';

const NOTHING = { programs: [], hidden: [] };

let layer: string;
let product: string;
beforeAll(() => {
  layer = mkdtempSync(join(tmpdir(), 'system-root-'));
  product = mkdtempSync(join(tmpdir(), 'product-'));
});
afterAll(() => [layer, product].forEach((folder) => rmSync(folder, { recursive: true })));

test('makeSystemRoot shows programs read-only at their own paths, unless the machine’s folders show them already', async () => {
  const { mounts } = await makeSystemRoot(layer, { programs: [product, '/usr/bin/env', '/nowhere/program'], hidden: [] });
  expect(mounts.every(({ readOnly, source, target }) => readOnly && source === target)).toBe(true);
  const targets = mounts.map(({ target }) => target);
  expect(targets).toContain('/usr');
  expect(targets).toContain(product);
  expect(targets).not.toContain('/nowhere/program');
  expect(targets).not.toContain('/usr/bin/env');
});

test('makeSystemRoot shows nothing secret of the machine', async () => {
  const { mounts } = await makeSystemRoot(layer, NOTHING);
  for (const secret of ['/', '/etc', '/root', '/home', '/var', '/etc/shadow', '/etc/ssl', '/etc/ssl/private'])
    expect(mounts.map(({ target }) => target)).not.toContain(secret);
});

test('makeSystemRoot covers what is hidden with an empty folder, when it would be seen', async () => {
  const { mounts } = await makeSystemRoot(layer, {
    programs: [product],
    hidden: ['/usr/local/data', join(product, 'data'), '/srv/data'],
  });
  const covers = mounts.filter(({ source }) => source.startsWith(layer));
  expect(covers.map(({ target }) => target)).toEqual(['/usr/local/data', join(product, 'data')]);
  expect(readdirSync(covers[0].source)).toEqual([]);
});

test('makeSystemRoot can be made again, with a folder for everybody’s files', async () => {
  await makeSystemRoot(layer, NOTHING);
  await makeSystemRoot(layer, NOTHING);
  expect(statSync(join(layer, 'tmp')).mode & 0o7777).toBe(0o1777);
  // Where the machine's /bin is a link, it is one here.
  expect(lstatSync('/bin').isSymbolicLink()).toBe(lstatSync(join(layer, 'bin'), { throwIfNoEntry: false })?.isSymbolicLink() ?? false);
});
