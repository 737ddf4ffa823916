import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeAtomically, type Payload } from './atomic-writer.ts';

const NOW = Date.parse('2026-03-04T05:06:07Z');
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenantry-atomic-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function files(entries: Record<string, string>, mode = 0o644): Payload {
  return new Map(Object.entries(entries).map(([path, text]) => [path, { data: Buffer.from(text), mode }]));
}

function write(entries: Record<string, string>): Promise<void> {
  return writeAtomically(folder, files(entries), { now: NOW });
}

async function visible(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => !name.startsWith('..')).toSorted();
}

const text = (path: string): Promise<string> => readFile(join(folder, path), 'utf8');
const data = (): Promise<string> => readlink(join(folder, '..data'));

describe('writeAtomically', () => {
  it('lays a volume out as the kubelet does', async () => {
    await write({ a: '1', 'sub/b': '2', 'sub/deep/c': '3' });
    expect(await data()).toMatch(/^\.\.2026_03_04_05_06_07\.\d+$/);
    expect(await visible()).toEqual(['a', 'sub']);
    expect([await readlink(join(folder, 'a')), await readlink(join(folder, 'sub'))]).toEqual(['..data/a', '..data/sub']);
    expect([await text('a'), await text('sub/b'), await text('sub/deep/c')]).toEqual(['1', '2', '3']);
  });

  it.each([0o400, 0o440, 0o600, 0o777])('gives files their mode, whatever the umask: %o', async (mode) => {
    await writeAtomically(folder, files({ a: '1' }, mode), { now: NOW });
    expect((await stat(join(folder, 'a'))).mode & 0o777).toBe(mode);
    expect((await stat(join(folder, '..data/'))).mode & 0o777).toBe(0o755);
  });

  it('replaces everything at once, and removes what is no longer there', async () => {
    await write({ a: '1', gone: 'x', 'sub/b': '2', 'old/c': '3' });
    const before = await data();
    await write({ a: '2', 'sub/d': '4', new: '5' });
    expect(await data()).not.toBe(before);
    expect(await visible()).toEqual(['a', 'new', 'sub']);
    expect(await readdir(join(folder, 'sub'))).toEqual(['d']);
    expect(await text('a')).toBe('2');
    expect((await readdir(folder)).filter((name) => /^\.\.\d/.test(name))).toEqual([await data()]);
  });

  it('leaves a volume alone whose content is what it should be', async () => {
    await write({ a: '1' });
    const before = await data();
    await write({ a: '1' });
    expect(await data()).toBe(before);
  });

  it('writes a link that is missing although the content is right', async () => {
    await write({ a: '1' });
    await rm(join(folder, 'a'));
    await write({ a: '1' });
    expect(await text('a')).toBe('1');
  });

  it('a reader sees all of the old or all of the new', async () => {
    await write({ a: '0', b: '0' });
    const done = new AbortController();
    const torn: string[] = [];
    const reader = (async () => {
      while (!done.signal.aborted) {
        const version = await data();
        const [a, b] = await Promise.all(['a', 'b'].map((name) => readFile(join(folder, version, name), 'utf8').catch(() => undefined)));
        if (a !== undefined && b !== undefined && a !== b) torn.push(`${a} ${b}`);
      }
    })();
    for (let version = 1; version <= 30; version++) await write({ a: String(version), b: String(version) });
    done.abort();
    await reader;
    expect(torn).toEqual([]);
    expect([await text('a'), await text('b')]).toEqual(['30', '30']);
  });

  it('clears away what a writer that was killed left behind', async () => {
    await write({ a: '1' });
    await mkdir(join(folder, '..2020_01_01_00_00_00.1'));
    await writeFile(join(folder, '..2020_01_01_00_00_00.1', 'half'), 'x');
    await symlink('..2020_01_01_00_00_00.1', join(folder, '..data_tmp'));
    await write({ a: '2' });
    expect((await readdir(folder)).toSorted()).toEqual([await data(), '..data', 'a'].toSorted());
  });

  it('shows nothing of a content whose owner could not be set', async () => {
    await write({ a: '1' });
    const setOwner = (): Promise<void> => Promise.reject(new Error('no such group'));
    await expect(writeAtomically(folder, files({ a: '2' }), { now: NOW, setOwner })).rejects.toThrow('no such group');
    expect(await text('a')).toBe('1');
    expect((await readdir(folder)).filter((name) => /^\.\.\d/.test(name))).toEqual([await data()]);
  });

  it('keeps folders that other volumes are mounted on', async () => {
    await mkdir(join(folder, 'nested'));
    await write({ a: '1' });
    await write({ b: '1' });
    expect((await lstat(join(folder, 'nested'))).isDirectory()).toBe(true);
  });

  it('can be empty', async () => {
    await write({ a: '1' });
    await write({});
    expect(await visible()).toEqual([]);
  });

  it.each([
    ['', 'invalid path: must not be empty: ""'],
    ['/etc/passwd', 'invalid path: must be relative path: /etc/passwd'],
    ['a/../../b', "invalid path: must not contain '..': a/../../b"],
    ['..data', "invalid path: must not start with '..': ..data"],
    ['x'.repeat(256), 'invalid path: filenames must be less than or equal to 255 characters'],
    ['x/'.repeat(2100), 'invalid path: must be less than or equal to 4096 characters'],
  ])('refuses the path %s', async (path, message) => {
    await expect(write({ good: '1', [path]: '1' })).rejects.toThrow(message);
    expect(await readdir(folder)).toEqual([]);
  });
});
