import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tarOf, type ArchiveEntry } from '../../../../../test/support/tar-archive.ts';
import { TarReader, type TarEntry } from './tar-reader.ts';

interface Read extends TarEntry {
  content: string;
}

function readAll(archive: Buffer, sizes: number[] = [archive.length]): Read[] {
  const found: Read[] = [];
  let open = 0;
  const reader = new TarReader({
    entry: (entry) => {
      expect(open++).toBe(0);
      found.push({ ...entry, content: '' });
    },
    content: (chunk) => (found.at(-1)!.content += chunk.toString('latin1')),
    endOfEntry: () => open--,
  });
  for (let at = 0, turn = 0; at < archive.length; turn++) {
    const size = Math.max(1, sizes[turn % sizes.length]);
    reader.write(archive.subarray(at, at + size));
    at += size;
  }
  reader.end();
  expect(open).toBe(0);
  return found;
}

const some: ArchiveEntry[] = [
  { name: 'folder/', type: 'directory', mode: 0o1777, uid: 10, gid: 20 },
  { name: 'folder/file', content: 'hello', mode: 0o4755, mtime: 1234567 },
  { name: 'folder/empty' },
  { name: 'link', type: 'symlink', link: '../target' },
  { name: 'hard', type: 'hardlink', link: 'folder/file' },
  { name: 'dev/null', type: 'character', device: [1, 3] },
  { name: 'pipe', type: 'fifo' },
  { name: 'x'.repeat(300), content: 'long', pax: { mtime: '12.5', uid: '4000000000', 'SCHILY.xattr.user.a': Buffer.from([0, 255, 10]) } },
];

describe('TarReader', () => {
  test('every kind of entry is read', () => {
    const found = readAll(tarOf(some));
    expect(found.map(({ type }) => type)).toEqual(['directory', 'file', 'file', 'symlink', 'hardlink', 'character', 'fifo', 'file']);
    expect(found[0]).toMatchObject({ name: 'folder/', mode: 0o1777, uid: 10, gid: 20 });
    expect(found[1]).toMatchObject({ name: 'folder/file', size: 5, content: 'hello', mode: 0o4755, mtime: 1234567 });
    expect(found[3]).toMatchObject({ linkName: '../target' });
    expect(found[5]).toMatchObject({ deviceMajor: 1, deviceMinor: 3 });
    expect(found[7]).toMatchObject({ name: 'x'.repeat(300), content: 'long', mtime: 12.5, uid: 4000000000 });
    expect(found[7].attributes).toEqual(new Map([['user.a', '\0\xff\n']]));
  });

  test('the result does not depend on where the stream is cut', () => {
    const archive = tarOf(some);
    const whole = readAll(archive);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: 1, maxLength: 20 }), (sizes) => {
        expect(readAll(archive, sizes)).toEqual(whole);
      }),
      { numRuns: 50 },
    );
  });

  test.each(['gnu', 'posix', 'ustar', 'oldgnu'])('what GNU tar writes in the %s format is read', (format) => {
    const folder = mkdtempSync(join(tmpdir(), 'tenantry-tar-'));
    try {
      const long = `${'d'.repeat(60)}-${format === 'ustar' ? 'f'.repeat(20) : 'f'.repeat(90)}`;
      writeFileSync(join(folder, long), 'content');
      symlinkSync(long, join(folder, 'link'));
      writeFileSync(Buffer.from(`${folder}/caf\xe9`, 'latin1'), '');
      const { stdout, status } = spawnSync('tar', ['--format', format, '-C', folder, '-cf', '-', '.'], { maxBuffer: 1e8 });
      expect(status).toBe(0);
      const found = readAll(stdout, [700]);
      expect(found.find(({ name }) => name === `./${long}`)).toMatchObject({ content: 'content' });
      expect(found.find(({ name }) => name === './link')).toMatchObject({ type: 'symlink', linkName: long });
      expect(found.some(({ name }) => name === './caf\xe9')).toBe(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a global header changes no entry', () => {
    const [first] = readAll(tarOf([{ name: 'g', flag: 'g', content: '14 path=other\n' }, { name: 'mine' }]));
    expect(first.name).toBe('mine');
  });

  test('an archive without the zeros at its end is whole', () => {
    expect(readAll(tarOf([{ name: 'a', content: 'b' }]).subarray(0, 1024))).toHaveLength(1);
  });

  const damaged = tarOf(some);
  damaged[100] ^= 1;
  test.each<[string, Buffer, string]>([
    ['cut in a header', tarOf(some).subarray(0, 700), 'the archive ends in the middle of an entry'],
    ['cut in the content', tarOf([{ name: 'a', content: 'b'.repeat(600) }]).subarray(0, 800), 'the archive ends in the middle of an entry'],
    ['cut between a long name and its entry', tarOf([{ name: 'x'.repeat(300) }]).subarray(0, 1024), 'ends in the middle of an entry'],
    ['text', Buffer.from('x'.repeat(1024)), 'is no number'],
    ['a changed header', damaged, 'it is no tar archive, or a header is damaged'],
    ['a sparse file of GNU', tarOf([{ name: 'a', flag: 'S' }]), 'it has a sparse file, which is not supported'],
    ['a sparse file of POSIX', tarOf([{ name: 'a', pax: { 'GNU.sparse.major': '1' } }]), 'it has a sparse file'],
    ['an unknown type', tarOf([{ name: 'a', flag: 'Z' }]), 'an entry of the unknown type "Z"'],
    ['a negative size', tarOf([{ name: 'a', pax: { size: '-1' } }]), 'it has an entry with the size "-1"'],
    ['a size that is no number', tarOf([{ name: 'a', pax: { size: '1e9' } }]), 'it has an entry with the size "1e9"'],
    ['a huge name', tarOf([{ name: 'L', flag: 'L', content: 'x'.repeat(2 ** 20 + 1) }]), 'bytes of names and attributes'],
    [
      'a record that is damaged',
      tarOf([{ name: 'x', flag: 'x', content: '99 path=a\n' }, { name: 'a' }]),
      'an extended header that is damaged',
    ],
    [
      'a record of length zero',
      tarOf([{ name: 'x', flag: 'x', content: '0 path=a\n' }, { name: 'a' }]),
      'an extended header that is damaged',
    ],
  ])('an archive that is %s is refused', (_name, archive, message) => {
    expect(() => readAll(archive)).toThrow(message);
  });

  test('random bytes never hang or crash it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), fc.nat(2000), (noise, at) => {
        const archive = tarOf(some);
        archive.set(noise.subarray(0, Math.max(0, archive.length - at)), Math.min(at, archive.length));
        const reader = new TarReader({ entry() {}, content() {}, endOfEntry() {} });
        try {
          reader.write(archive);
          reader.end();
        } catch (error) {
          expect((error as Error).constructor.name).toBe('TarError');
        }
      }),
      { numRuns: 200 },
    );
  });
});
