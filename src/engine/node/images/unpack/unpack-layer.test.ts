import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { digestOf, tarOf, type ArchiveEntry } from '../../../../../test/support/tar-archive.ts';
import { unpackLayer } from './unpack-layer.ts';

const limits = { bytes: 10_000_000, entries: 1000 };
const isRoot = process.getuid!() === 0;
let folder: string;
let count = 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-unpack-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function unpack(
  entries: ArchiveEntry[] | Buffer,
  options: { lower?: string[]; diffId?: string; limits?: typeof limits } = {},
): Promise<string> {
  const tar = Buffer.isBuffer(entries) ? entries : tarOf(entries);
  const blob = join(folder, `blob-${count}`);
  const target = join(folder, `layer-${count++}`);
  writeFileSync(blob, tar);
  await unpackLayer({
    blob,
    target,
    lower: options.lower ?? [],
    diffId: options.diffId,
    limits: options.limits ?? limits,
    keepOwners: isRoot,
  });
  return target;
}

/** A frame of zstd that stores its content as it is. */
function zstdOf(content: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt32LE(0xfd2fb528, 0);
  head[4] = 0xa0;
  head.writeUInt32LE(content.length, 5);
  head.writeUIntLE((content.length << 3) | 1, 9, 3);
  return Buffer.concat([head, content]);
}

const isWhiteout = (path: string) => lstatSync(path).isCharacterDevice() && lstatSync(path).rdev === 0;
const text = (path: string) => readFileSync(path, 'utf8');

describe('unpackLayer', () => {
  test('files, folders, links and pipes appear as the archive says', async () => {
    const layer = await unpack([
      { name: './', type: 'directory', mode: 0o755 },
      { name: './bin/', type: 'directory', mode: 0o555, mtime: 1000 },
      { name: './bin/app', content: '#!/bin/sh\n', mode: 0o755, mtime: 2000 },
      { name: './bin/same', type: 'hardlink', link: './bin/app' },
      { name: './bin/sh', type: 'symlink', link: '/usr/bin/dash' },
      { name: './run/pipe', type: 'fifo', mode: 0o640 },
      { name: '/absolute', content: 'inside' },
    ]);
    expect(text(`${layer}/bin/app`)).toBe('#!/bin/sh\n');
    expect(statSync(`${layer}/bin/app`).mode & 0o777).toBe(0o755);
    expect(statSync(`${layer}/bin/app`).mtimeMs).toBe(2_000_000);
    expect(statSync(`${layer}/bin`).mtimeMs).toBe(1_000_000);
    expect(statSync(`${layer}/bin/same`).ino).toBe(statSync(`${layer}/bin/app`).ino);
    expect(readlinkSync(`${layer}/bin/sh`)).toBe('/usr/bin/dash');
    expect(lstatSync(`${layer}/run/pipe`).isFIFO()).toBe(true);
    expect(text(`${layer}/absolute`)).toBe('inside');
  });

  test('names that are no UTF-8 keep their bytes', async () => {
    const name = Buffer.from('caf\xe9', 'latin1');
    const layer = await unpack([{ name: 'x', pax: { path: name }, content: 'x' }]);
    expect(readdirSync(layer, { encoding: 'buffer' })[0].equals(name)).toBe(true);
  });

  test('a later entry of the same name wins, whatever was there', async () => {
    const layer = await unpack([
      { name: 'a/b', content: 'old' },
      { name: 'a', content: 'a file now' },
      { name: 'c', content: 'old' },
      { name: 'c/', type: 'directory' },
      { name: 'c/d', content: 'a folder now' },
    ]);
    expect(text(`${layer}/a`)).toBe('a file now');
    expect(text(`${layer}/c/d`)).toBe('a folder now');
  });

  test.skipIf(!isRoot)('owners and setuid are kept as root', async () => {
    const layer = await unpack([{ name: 'su', mode: 0o4755, uid: 1234, gid: 4321, content: 'x' }]);
    expect(statSync(`${layer}/su`)).toMatchObject({ uid: 1234, gid: 4321 });
    expect(statSync(`${layer}/su`).mode & 0o7777).toBe(0o4755);
  });

  test('without owners nothing is setuid and folders stay usable', async () => {
    const blob = join(folder, 'blob');
    writeFileSync(
      blob,
      tarOf([
        { name: 'd/', type: 'directory', mode: 0o055 },
        { name: 'd/su', mode: 0o6755, uid: 5, content: 'x' },
      ]),
    );
    const target = join(folder, 'layer');
    await unpackLayer({ blob, target, lower: [], limits, keepOwners: false });
    expect(statSync(`${target}/d/su`)).toMatchObject({ uid: process.getuid!() });
    expect(statSync(`${target}/d/su`).mode & 0o7777).toBe(0o755);
    expect(statSync(`${target}/d`).mode & 0o777).toBe(0o755);
  });

  test('gzip is undone and the digest is that of the plain archive', async () => {
    const tar = tarOf([{ name: 'a', content: 'b' }]);
    const layer = await unpack(zlib.gzipSync(tar), { diffId: digestOf(tar) });
    expect(text(`${layer}/a`)).toBe('b');
  });
});

describe('zstd', () => {
  const tar = tarOf([{ name: 'a', content: 'b'.repeat(1000) }]);
  const canRead = 'createZstdDecompress' in zlib || spawnSync('zstd', ['--version']).status === 0;

  test.runIf(canRead)('it is undone by Node or by the program of the machine', async () => {
    expect(text(`${await unpack(zstdOf(tar), { diffId: digestOf(tar) })}/a`)).toBe('b'.repeat(1000));
  });

  test.runIf(canRead)('a damaged one is refused', async () => {
    await expect(unpack(zstdOf(tar).subarray(0, 900))).rejects.toThrow('its compression is damaged');
  });

  test.runIf(canRead)('a bad archive in it is told for what it is', async () => {
    await expect(unpack(zstdOf(tarOf([{ name: '../a' }])))).rejects.toThrow('leads out of its folder');
  });
});

describe('layers upon layers', () => {
  test('what is removed becomes a whiteout, and only if it was there', async () => {
    const base = await unpack([
      { name: 'etc/a', content: 'a' },
      { name: 'etc/b', content: 'b' },
    ]);
    const layer = await unpack([{ name: 'etc/.wh.a' }, { name: 'etc/.wh.nothing' }, { name: '.wh..wh.plnk', type: 'directory' }], {
      lower: [base],
    });
    expect(isWhiteout(`${layer}/etc/a`)).toBe(true);
    expect(readdirSync(`${layer}/etc`)).toEqual(['a']);
    expect(readdirSync(layer)).toEqual(['etc']);
  });

  test('an opaque folder hides everything below it that the layer itself does not bring', async () => {
    const base = await unpack([
      { name: 'd/old', content: '' },
      { name: 'd/sub/x', content: '' },
      { name: 'd/sub/y', content: '' },
      { name: 'd/both', content: '' },
    ]);
    const layer = await unpack([{ name: 'd/.wh..wh..opq' }, { name: 'd/both', content: 'new' }, { name: 'd/sub/y', content: 'new' }], {
      lower: [base],
    });
    expect(isWhiteout(`${layer}/d/old`)).toBe(true);
    expect(isWhiteout(`${layer}/d/sub/x`)).toBe(true);
    expect(text(`${layer}/d/both`)).toBe('new');
    expect(text(`${layer}/d/sub/y`)).toBe('new');
  });

  test('a removal does not touch what the same layer brings', async () => {
    const base = await unpack([{ name: 'd/old', content: '' }]);
    const layer = await unpack([{ name: 'd/new', content: 'n' }, { name: '.wh.d' }], { lower: [base] });
    expect(text(`${layer}/d/new`)).toBe('n');
    expect(isWhiteout(`${layer}/d/old`)).toBe(true);
  });

  test('a folder that only the layer below describes keeps its mode', async () => {
    const base = await unpack([{ name: 'tmp/', type: 'directory', mode: 0o1777 }]);
    const layer = await unpack([{ name: 'tmp/file', content: '' }], { lower: [base] });
    expect(statSync(`${layer}/tmp`).mode & 0o777).toBe(0o777);
  });

  test('a link to a folder below is followed inside the image', async () => {
    const base = await unpack([
      { name: 'usr/lib/', type: 'directory' },
      { name: 'lib', type: 'symlink', link: 'usr/lib' },
    ]);
    const layer = await unpack([{ name: 'lib/x.so', content: 'x' }], { lower: [base] });
    expect(text(`${layer}/usr/lib/x.so`)).toBe('x');
    expect(existsSync(`${layer}/lib`)).toBe(false);
  });

  test('a hard link to a file below brings it up', async () => {
    const base = await unpack([{ name: 'bin/busybox', content: 'bb', mode: 0o755 }]);
    const layer = await unpack([{ name: 'bin/sh', type: 'hardlink', link: 'bin/busybox' }], { lower: [base] });
    expect(text(`${layer}/bin/sh`)).toBe('bb');
    expect(statSync(`${layer}/bin/sh`).ino).toBe(statSync(`${layer}/bin/busybox`).ino);
  });

  test('a whiteout in the middle ends the view of what is below', async () => {
    const base = await unpack([{ name: 'd/file', content: '' }]);
    const middle = await unpack([{ name: '.wh.d' }], { lower: [base] });
    const layer = await unpack([{ name: 'd/.wh.file' }, { name: 'd/other', content: '' }], { lower: [base, middle] });
    expect(readdirSync(`${layer}/d`)).toEqual(['other']);
  });
});

describe('tricks', () => {
  const outside = () => join(folder, 'outside');
  beforeEach(() => writeFileSync(outside(), 'untouched'));

  test.each<[string, ArchiveEntry[], string]>([
    ['climbs', [{ name: '../outside', content: 'x' }], 'the name "../outside" leads out of its folder'],
    ['climbs in the middle', [{ name: 'a/../../outside', content: 'x' }], 'leads out of its folder'],
    [
      'links hard to what is outside',
      [{ name: 'a', type: 'hardlink', link: '../outside' }],
      'the name "../outside" leads out of its folder',
    ],
    ['links hard to an absolute name', [{ name: 'a', type: 'hardlink', link: '/etc/passwd' }], 'which is no file of the image'],
    [
      'links hard to a folder',
      [
        { name: 'd/', type: 'directory' },
        { name: 'a', type: 'hardlink', link: 'd' },
      ],
      'which is no file of the image',
    ],
    [
      'links hard through a link out',
      [
        { name: 'up', type: 'symlink', link: '/etc' },
        { name: 'a', type: 'hardlink', link: 'up/passwd' },
      ],
      'which is no file of the image',
    ],
    ['brings a device', [{ name: 'sda', type: 'block', device: [8, 0] }], '"sda" is a device (8, 0), which no image may bring along'],
    ['removes the folder above', [{ name: 'a/.wh...', content: '' }], 'removes nothing that has a name'],
    [
      'links in a circle',
      [{ name: 'a', type: 'symlink', link: 'b' }, { name: 'b', type: 'symlink', link: 'a' }, { name: 'a/x' }],
      'leads through more than 40 links',
    ],
    [
      'goes below a file',
      [
        { name: 'a', content: '' },
        { name: 'a/b', content: '' },
      ],
      '"a" is a file and a folder at once',
    ],
    ['has a name with a zero byte', [{ name: 'a', pax: { path: 'a\0b' } }], 'a name with a zero byte'],
    ['has a name without end', [{ name: 'a/'.repeat(3000), type: 'directory' }], 'a name of over 4096 bytes'],
    ['has a component without end', [{ name: 'a'.repeat(300) }], 'ENAMETOOLONG'],
  ])('an archive that %s is refused', async (_name, entries, message) => {
    await expect(unpack(entries)).rejects.toThrow(message);
    expect(text(outside())).toBe('untouched');
  });

  test('links that lead out are followed inside only', async () => {
    const layer = await unpack([
      { name: 'up', type: 'symlink', link: '../../..' },
      { name: 'up/tenantry-escape', content: 'x' },
      { name: 'abs', type: 'symlink', link: folder },
      { name: 'abs/outside', content: 'x' },
    ]);
    expect(text(`${layer}/tenantry-escape`)).toBe('x');
    expect(text(`${layer}${folder}/outside`)).toBe('x');
    expect(text(outside())).toBe('untouched');
  });

  test('a folder exchanged for a link after its removal was noted is not followed', async () => {
    const base = await unpack([{ name: 'd/outside2', content: '' }]);
    const layer = await unpack([{ name: 'd/.wh.outside2' }, { name: 'd/.wh..wh..opq' }, { name: 'd', type: 'symlink', link: folder }], {
      lower: [base],
    });
    expect(readlinkSync(`${layer}/d`)).toBe(folder);
    expect(existsSync(join(folder, 'outside2'))).toBe(false);
  });

  test('a file written over a link replaces the link', async () => {
    const layer = await unpack([
      { name: 'a', type: 'symlink', link: outside() },
      { name: 'a', content: 'mine' },
    ]);
    expect(text(`${layer}/a`)).toBe('mine');
    expect(text(outside())).toBe('untouched');
  });

  test('a folder over a link replaces the link', async () => {
    const layer = await unpack([
      { name: 'a', type: 'symlink', link: folder },
      { name: 'a/', type: 'directory', mode: 0o700 },
      { name: 'a/f', content: 'x' },
    ]);
    expect(lstatSync(`${layer}/a`).isDirectory()).toBe(true);
    expect(existsSync(join(folder, 'f'))).toBe(false);
  });

  test('devices below /dev are left out: the runtime brings its own', async () => {
    const layer = await unpack([{ name: 'dev/null', type: 'character', device: [1, 3], mode: 0o666 }]);
    expect(readdirSync(`${layer}/dev`)).toEqual([]);
  });

  test.each([
    ['too many bytes', [{ name: 'a', content: 'x'.repeat(5000) }], 'it unpacks to more bytes than this node takes'],
    ['too many bytes announced', [{ name: 'a', size: 5_000_000_000 }], 'it unpacks to more bytes than this node takes'],
    ['too many files', [{ name: 'a' }, { name: 'b' }, { name: 'c' }], 'it has more than 2 files'],
  ])('%s are refused', async (_name, entries, message) => {
    await expect(unpack(entries, { limits: { bytes: 3000, entries: 2 } })).rejects.toThrow(message);
  });

  test('zeros without end after the archive are refused', async () => {
    const bomb = zlib.gzipSync(Buffer.concat([tarOf([{ name: 'a' }]), Buffer.alloc(20_000_000)]));
    await expect(unpack(bomb)).rejects.toThrow('it unpacks to more bytes than this node takes');
  });

  test('content that is not what the image says is refused', async () => {
    await expect(unpack([{ name: 'a' }], { diffId: digestOf('other') })).rejects.toThrow(
      /its content has the digest sha256:\w+, the image says/,
    );
  });

  test('damaged compression is refused', async () => {
    const blob = zlib.gzipSync(tarOf([{ name: 'a', content: 'hello' }]));
    await expect(unpack(blob.subarray(0, -20))).rejects.toThrow('its compression is damaged (unexpected end of file)');
  });
});
