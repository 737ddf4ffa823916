import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSubPath } from './sub-path.ts';

let home: string;
let volume: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'tenantry-subpath-'));
  volume = join(home, 'volume');
  await mkdir(volume);
  await mkdir(join(home, 'secret'));
  await writeFile(join(home, 'secret', 'file'), 'x');
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function find(subPath: string): Promise<{ real: string; isFile: boolean; inode: number }> {
  const opened = await openSubPath(volume, subPath);
  await opened.close();
  return { real: opened.real, isFile: opened.stats.isFile(), inode: opened.stats.ino };
}

describe('openSubPath', () => {
  it('finds files and folders', async () => {
    await mkdir(join(volume, 'a', 'b'), { recursive: true });
    await writeFile(join(volume, 'a', 'file'), 'x');
    const { ino } = await stat(join(volume, 'a', 'b'));
    expect(await find('a/b')).toEqual({ real: join(volume, 'a', 'b'), isFile: false, inode: ino });
    expect(await find('a/file')).toMatchObject({ isFile: true });
    expect(await find('./a//b/')).toMatchObject({ inode: ino });
  });

  it('makes what is missing, with the rights of the volume', async () => {
    await chmod(volume, 0o2775);
    await mkdir(join(volume, 'a'));
    await find('a/b/c');
    expect((await stat(join(volume, 'a', 'b'))).mode & 0o7777).toBe(0o2775);
    expect((await stat(join(volume, 'a', 'b', 'c'))).mode & 0o7777).toBe(0o2775);
  });

  it('follows links that stay inside, as those of a ConfigMap do', async () => {
    await mkdir(join(volume, '..2026', 'sub'), { recursive: true });
    await writeFile(join(volume, '..2026', 'key'), 'x');
    await symlink('..2026', join(volume, '..data'));
    await symlink('..data/key', join(volume, 'key'));
    await symlink('..data/sub', join(volume, 'sub'));
    expect(await find('key')).toMatchObject({ real: join(volume, '..2026', 'key'), isFile: true });
    expect(await find('sub/new')).toMatchObject({ real: join(volume, '..2026', 'sub', 'new') });
  });

  it('takes a volume that is itself behind a link', async () => {
    await symlink(volume, join(home, 'link'));
    const opened = await openSubPath(join(home, 'link'), 'a');
    await opened.close();
    expect(opened.real).toBe(join(volume, 'a'));
  });

  const escapes: [string, string, string][] = [
    ['an absolute link', '../secret', 'link'],
    ['a link to a file', '../secret/file', 'link'],
    ['below a link', '../secret', 'link/new'],
    ['to the root', '/', 'link/etc'],
    ['to a folder with the volume as prefix', '../volume-2', 'link'],
  ];

  it.each(escapes)('refuses to leave the volume: %s', async (_, target, subPath) => {
    await mkdir(join(home, 'volume-2'));
    await symlink(target, join(volume, 'link'));
    await expect(find(subPath)).rejects.toThrow('not within volume path');
    expect(await readdir(join(home, 'secret'))).toEqual(['file']);
  });

  it('refuses a link to nothing instead of making what it leads to', async () => {
    await symlink('../made', join(volume, 'link'));
    await expect(find('link')).rejects.toThrow();
    await expect(find('link/sub')).rejects.toThrow();
    expect((await readdir(home)).toSorted()).toEqual(['secret', 'volume']);
  });

  it('refuses a loop of links', async () => {
    await symlink('b', join(volume, 'a'));
    await symlink('a', join(volume, 'b'));
    await expect(find('a')).rejects.toThrow('ELOOP');
  });

  it('refuses to go below a file', async () => {
    await writeFile(join(volume, 'file'), 'x');
    await expect(find('file/sub')).rejects.toThrow('ENOTDIR');
  });

  it('never leads out while a container swaps a folder for a link', async () => {
    const outside = (await stat(join(home, 'secret'))).ino;
    const stop = new AbortController();
    const attacker = (async () => {
      while (!stop.signal.aborted) {
        await mkdir(join(volume, 'race')).catch(() => {});
        await rm(join(volume, 'race'), { recursive: true, force: true }).catch(() => {});
        await symlink('../secret', join(volume, 'race')).catch(() => {});
        await rm(join(volume, 'race'), { recursive: true, force: true }).catch(() => {});
      }
    })();
    const found: number[] = [];
    for (let attempt = 0; attempt < 200; attempt++) {
      const result = await find('race').catch(() => undefined);
      if (result) found.push(result.inode);
    }
    stop.abort();
    await attacker;
    expect(found.length).toBeGreaterThan(0);
    expect(found).not.toContain(outside);
    expect(await readdir(join(home, 'secret'))).toEqual(['file']);
  });
});
