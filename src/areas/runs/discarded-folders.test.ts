import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DiscardedFolders } from './discarded-folders.ts';

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'tenantry-discarded-'))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

const removeAll = (path: string) => rm(path, { recursive: true });

function aFolder(name: string): string {
  const folder = join(root, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'file'), 'text');
  return folder;
}

describe('DiscardedFolders', () => {
  it('a folder is gone from its place at once, and from the disk in the end', async () => {
    const discarded = new DiscardedFolders(join(root, 'old'), removeAll);
    const folders = ['a', 'b', 'c'].map(aFolder);
    for (const folder of folders) discarded.discard(folder);
    expect(folders.map((folder) => existsSync(folder))).toEqual([false, false, false]);
    await discarded.empty();
    expect(readdirSync(root)).toEqual([]);
  });

  it('folders come and go while others are removed, one at a time', async () => {
    let [now, most, count] = [0, 0, 0];
    const discarded = new DiscardedFolders(join(root, 'old'), async (path) => {
      most = Math.max(most, ++now);
      if (count++ < 5) discarded.discard(aFolder(`late-${count}`));
      await removeAll(path);
      now--;
    });
    discarded.discard(aFolder('first'));
    await discarded.empty();
    expect({ most, count, left: readdirSync(root) }).toEqual({ most: 1, count: 6, left: [] });
  });

  it('the next one is removed when one cannot be', async () => {
    const removed: string[] = [];
    const discarded = new DiscardedFolders(join(root, 'old'), async (path) => {
      removed.push(path);
      if (removed.length === 1) throw new Error('busy');
    });
    for (const name of ['a', 'b']) discarded.discard(aFolder(name));
    await discarded.empty();
    expect(removed).toHaveLength(2);
  });

  it('a link in the place of a folder is removed, not followed', async () => {
    const discarded = new DiscardedFolders(join(root, 'old'), removeAll);
    const target = aFolder('target');
    symlinkSync(target, join(root, 'link'));
    discarded.discard(join(root, 'link'));
    await discarded.empty();
    expect(readdirSync(root)).toEqual(['target']);
    expect(readdirSync(target)).toEqual(['file']);
  });

  it('one that is gone already is nothing to worry about', async () => {
    const discarded = new DiscardedFolders(join(root, 'old'), removeAll);
    discarded.discard(join(root, 'none'));
    await expect(discarded.empty()).resolves.toBeUndefined();
  });

  it('what a process before left behind is removed', async () => {
    mkdirSync(join(root, 'old', '0', '0'), { recursive: true });
    await new DiscardedFolders(join(root, 'old'), removeAll).empty();
    expect(readdirSync(root)).toEqual([]);
  });
});
