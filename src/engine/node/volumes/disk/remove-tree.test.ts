import { chmod, link, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFolder } from './handles.ts';
import { removeTree } from './remove-tree.ts';

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'tenantry-remove-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

describe('removeTree', () => {
  it('removes files, folders and links, and follows none of them', async () => {
    await mkdir(join(home, 'kept'));
    await writeFile(join(home, 'kept', 'file'), 'precious');
    await mkdir(join(home, 'tree', 'a', 'b'), { recursive: true });
    await writeFile(join(home, 'tree', 'a', 'b', 'c'), 'x');
    await symlink(join(home, 'kept'), join(home, 'tree', 'to-folder'));
    await symlink(join(home, 'kept', 'file'), join(home, 'tree', 'a', 'to-file'));
    await symlink('/nowhere', join(home, 'tree', 'to-nothing'));
    await link(join(home, 'kept', 'file'), join(home, 'tree', 'second-name'));
    await removeTree(join(home, 'tree'));
    expect(await readdir(home)).toEqual(['kept']);
    expect(await readFile(join(home, 'kept', 'file'), 'utf8')).toBe('precious');
  });

  it('removes a link in the place of the folder', async () => {
    await mkdir(join(home, 'kept', 'sub'), { recursive: true });
    await symlink(join(home, 'kept'), join(home, 'tree'));
    await removeTree(join(home, 'tree'));
    expect(await readdir(home)).toEqual(['kept']);
    expect(await readdir(join(home, 'kept'))).toEqual(['sub']);
  });

  it('is content when there is nothing', async () => {
    await removeTree(join(home, 'absent'));
    await removeTree(join(home, 'absent', 'below'));
    expect(await readdir(home)).toEqual([]);
  });

  it('removes folders that their owner locked', async () => {
    await mkdir(join(home, 'tree', 'locked', 'inner'), { recursive: true });
    await writeFile(join(home, 'tree', 'locked', 'inner', 'file'), 'x');
    await chmod(join(home, 'tree', 'locked', 'inner'), 0o500);
    await chmod(join(home, 'tree', 'locked'), 0);
    await removeTree(join(home, 'tree'));
    expect(await readdir(home)).toEqual([]);
  });

  it('removes folders nested deeper than paths can be long', async () => {
    const name = 'd'.repeat(50);
    let folder = await openFolder(home);
    for (let depth = 0; depth < 300; depth++) {
      const path = join(folder.path, name);
      await mkdir(path);
      await writeFile(join(path, 'file'), 'x');
      const inner = await openFolder(path);
      await folder.close();
      folder = inner;
    }
    await folder.close();
    await removeTree(join(home, name));
    expect(await readdir(home)).toEqual([]);
  });

  it('removes many files', async () => {
    await mkdir(join(home, 'tree'));
    await Promise.all(Array.from({ length: 200 }, (_, index) => writeFile(join(home, 'tree', `f${index}`), '')));
    await removeTree(join(home, 'tree'));
    expect(await readdir(home)).toEqual([]);
  });
});
