import { mkdir, mkdtemp, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prepareHostPath } from './host-path-policy.ts';

let home: string;

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'tenantry-host-')));
  await mkdir(join(home, 'shared', 'data'), { recursive: true });
  await mkdir(join(home, 'shared-2'));
  await mkdir(join(home, 'private'));
  await writeFile(join(home, 'shared', 'file'), 'x');
});
afterEach(() => rm(home, { recursive: true, force: true }));

const prepare = (path: string, type = ''): Promise<string> => prepareHostPath(path, type, [join(home, 'shared')]);

describe('prepareHostPath by policy', () => {
  it('allows the folder and what is below it', async () => {
    expect(await prepare(join(home, 'shared'))).toBe(join(home, 'shared'));
    expect(await prepare(join(home, 'shared', 'data'))).toBe(join(home, 'shared', 'data'));
  });

  it('refuses everything by default and says what to do', async () => {
    const path = join(home, 'shared');
    await expect(prepareHostPath(path, '', [])).rejects.toThrow(
      `Cannot mount hostPath "${path}": this node lets Pods use none of its own folders; start the node with --allow-host-path ${path}`,
    );
  });

  it.each(['private', 'shared-2', '.'])('refuses what is outside: %s', async (name) => {
    await expect(prepare(join(home, name))).rejects.toThrow(`it is in none of ${join(home, 'shared')}`);
  });

  it('refuses a way back', async () => {
    await expect(prepare(`${home}/shared/../private`)).rejects.toThrow("must not contain '..'");
  });

  it('refuses a link that leads out, also above what is missing', async () => {
    await symlink(join(home, 'private'), join(home, 'shared', 'link'));
    await expect(prepare(join(home, 'shared', 'link'))).rejects.toThrow(`(which is "${join(home, 'private')}")`);
    await expect(prepare(join(home, 'shared', 'link', 'new'), 'DirectoryOrCreate')).rejects.toThrow('Cannot mount hostPath');
    expect((await stat(join(home, 'private'))).nlink).toBe(2);
  });

  it('refuses a link to nothing', async () => {
    await symlink(join(home, 'private', 'new'), join(home, 'shared', 'link'));
    await expect(prepare(join(home, 'shared', 'link'), 'FileOrCreate')).rejects.toThrow('it is a link to nothing');
  });

  it('allows a link into an allowed folder, and an allowed folder behind a link', async () => {
    await symlink(join(home, 'shared'), join(home, 'link'));
    expect(await prepare(join(home, 'link', 'data'))).toBe(join(home, 'shared', 'data'));
    expect(await prepareHostPath(join(home, 'shared', 'data'), '', [join(home, 'link')])).toBe(join(home, 'shared', 'data'));
  });

  it('allows everything below the root', async () => {
    expect(await prepareHostPath(join(home, 'private'), '', ['/'])).toBe(join(home, 'private'));
  });
});

describe('prepareHostPath by type', () => {
  const good: [string, string][] = [
    ['', 'data'],
    ['', 'file'],
    ['', 'new/folder'],
    ['Directory', 'data'],
    ['DirectoryOrCreate', 'data'],
    ['DirectoryOrCreate', 'new/folder'],
    ['File', 'file'],
    ['FileOrCreate', 'file'],
    ['FileOrCreate', 'data/new'],
  ];

  it.each(good)('%s takes %s', async (type, name) => {
    const path = join(home, 'shared', name);
    expect(await prepare(path, type)).toBe(path);
    expect((await stat(path)).isFile()).toBe(type.startsWith('File') || name === 'file');
  });

  const bad: [string, string, string][] = [
    ['Directory', 'file', 'is not a directory'],
    ['Directory', 'absent', 'is not a directory'],
    ['DirectoryOrCreate', 'file', 'is not a directory'],
    ['File', 'data', 'is not a file'],
    ['File', 'absent', 'is not a file'],
    ['FileOrCreate', 'data', 'is not a file'],
    ['Socket', 'file', 'is not a socket file'],
    ['CharDevice', 'file', 'is not a character device'],
    ['BlockDevice', 'file', 'is not a block device'],
    ['Strange', 'file', 'Strange is an invalid volume type'],
  ];

  it.each(bad)('%s refuses %s', async (type, name, message) => {
    await expect(prepare(join(home, 'shared', name), type)).rejects.toThrow(message);
  });

  it('takes sockets and devices', async () => {
    const path = join(home, 'shared', 'sock');
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(path, resolve));
    expect(await prepare(path, 'Socket')).toBe(path);
    await new Promise((resolve) => void server.close(resolve));
    expect(await prepareHostPath('/dev/null', 'CharDevice', ['/dev/null'])).toBe('/dev/null');
  });
});
