import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ArtifactInvalidError } from './artifact-store.ts';
import { collectArtifacts, DEFAULT_ARTIFACT_LIMITS, removeOldArchives, type ArtifactLimits } from './collect-artifacts.ts';

describe('collectArtifacts', () => {
  let root: string;
  let folder: string;
  let archives = 0;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'tenantry-artifacts-'));
    folder = join(root, 'artifacts');
    mkdirSync(folder);
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const releases: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const release of releases.splice(0)) await release();
  });
  const collect = async (limits: Partial<ArtifactLimits> = {}) => {
    const places = { root, names: ['artifacts'], archives: `.archives-${archives++}` };
    const { contents, release } = await collectArtifacts(places, { ...DEFAULT_ARTIFACT_LIMITS, ...limits }, new AbortController().signal);
    releases.push(release);
    return contents;
  };
  const sha256 = (bytes: string | Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

  it('finds files as they are', async () => {
    writeFileSync(join(folder, 'b.txt'), 'bbb');
    writeFileSync(join(folder, 'a'), '');
    expect(await collect()).toEqual([
      { name: 'a', type: 'file', path: expect.any(String), sizeBytes: 0, digest: sha256(''), contentType: 'application/octet-stream' },
      {
        name: 'b.txt',
        type: 'file',
        path: expect.any(String),
        sizeBytes: 3,
        digest: sha256('bbb'),
        contentType: 'application/octet-stream',
      },
    ]);
  });

  it('makes of a folder an archive that tar understands', async () => {
    const long = `${'d'.repeat(90)}/${'f'.repeat(90)}`;
    mkdirSync(join(folder, 'out', 'd'.repeat(90)), { recursive: true });
    mkdirSync(join(folder, 'out', 'empty'));
    writeFileSync(join(folder, 'out', long), 'deep');
    writeFileSync(join(folder, 'out', 'tool'), '#!/bin/sh\n');
    chmodSync(join(folder, 'out', 'tool'), 0o755);
    const [content] = await collect();
    expect(content).toMatchObject({ name: 'out', type: 'directory', contentType: 'application/gzip' });
    const bytes = readFileSync(content.path);
    expect(content.digest).toBe(sha256(bytes));
    expect(content.sizeBytes).toBe(bytes.length);
    const copy = join(root, 'copy.tar.gz');
    writeFileSync(copy, bytes);
    const listed = execFileSync('tar', ['-tzf', copy]).toString().trim().split('\n');
    expect(listed).toEqual([`${'d'.repeat(90)}/`, long, 'empty/', 'tool']);
    const unpacked = join(root, 'unpacked');
    mkdirSync(unpacked);
    execFileSync('tar', ['-xzf', copy, '-C', unpacked]);
    expect(readFileSync(join(unpacked, long), 'utf8')).toBe('deep');
  });

  it('makes the same archive of the same content, whenever and in whichever order it was written', async () => {
    const write = (names: string[], time: number) => {
      rmSync(join(folder, 'out'), { recursive: true, force: true });
      mkdirSync(join(folder, 'out'));
      for (const name of names) {
        writeFileSync(join(folder, 'out', name), name);
        utimesSync(join(folder, 'out', name), time, time);
      }
    };
    write(['a', 'B', 'ä'], 1000);
    const [first] = await collect();
    write(['ä', 'B', 'a'], 2000);
    const [second] = await collect();
    expect(second.digest).toBe(first.digest);
  });

  it('is content with no artifacts, and with no folder', async () => {
    expect(await collect()).toEqual([]);
    rmSync(folder, { recursive: true });
    expect(await collect()).toEqual([]);
  });

  it.each<[string, () => void, string]>([
    [
      'a link',
      () => symlinkSync('/etc/passwd', join(folder, 'l')),
      'artifact "l" is a symbolic link; only regular files and folders can be stored',
    ],
    [
      'a link in a folder',
      () => {
        mkdirSync(join(folder, 'd'));
        symlinkSync('..', join(folder, 'd', 'up'));
      },
      'artifact "d/up" is a symbolic link',
    ],
    ['a pipe', () => execFileSync('mkfifo', [join(folder, 'p')]), 'artifact "p" is a special file'],
    [
      'a link instead of the folder',
      () => {
        rmSync(folder, { recursive: true });
        symlinkSync('/etc', folder);
      },
      'the artifacts folder is not a folder any more',
    ],
    ['a name with a backslash', () => writeFileSync(join(folder, 'a\\b'), ''), 'has a separator in its name'],
    [
      'a name that is not UTF-8',
      () => writeFileSync(Buffer.from([...Buffer.from(`${folder}/`), 0xff, 0xfe]), ''),
      'has a name that is not UTF-8',
    ],
    [
      'more than 32',
      () => {
        for (let i = 0; i < 33; i++) writeFileSync(join(folder, `f${i}`), '');
      },
      'there are more than 32 artifacts',
    ],
  ])('refuses %s', async (_name, prepare, message) => {
    prepare();
    await expect(collect()).rejects.toThrow(ArtifactInvalidError);
    await expect(collect()).rejects.toThrow(message);
  });

  it('refuses what is too large, alone, together, or in an archive', async () => {
    writeFileSync(join(folder, 'a'), 'x'.repeat(60));
    await expect(collect({ artifactBytes: 59 })).rejects.toThrow('artifact "a" is larger than 59 bytes');
    writeFileSync(join(folder, 'b'), 'x'.repeat(60));
    await expect(collect({ artifactBytes: 60, artifactsBytes: 119 })).rejects.toThrow('the artifacts are larger than 119 bytes together');
    expect(await collect({ artifactBytes: 60, artifactsBytes: 120 })).toHaveLength(2);
    rmSync(join(folder, 'a'));
    rmSync(join(folder, 'b'));
    mkdirSync(join(folder, 'd'));
    writeFileSync(join(folder, 'd', 'f'), Buffer.alloc(1 << 20));
    await expect(collect({ artifactBytes: 100 })).rejects.toThrow('artifact "d" is larger than 100 bytes');
    await expect(collect({ artifactsBytes: 1000 })).rejects.toThrow('artifact "d" has more than 1000 bytes in it');
  });

  it('goes on reading what it found, whatever is put in its place', async () => {
    writeFileSync(join(folder, 'a'), 'mine');
    const [content] = await collect();
    renameSync(folder, join(root, 'aside'));
    mkdirSync(join(root, 'secret'));
    writeFileSync(join(root, 'secret', 'a'), 'token');
    symlinkSync(join(root, 'secret'), folder);
    expect(readFileSync(content.path, 'utf8')).toBe('mine');
    await expect(collect()).rejects.toThrow('the artifacts folder is not a folder any more');
  });

  it('refuses folders in folders without end', async () => {
    mkdirSync(join(folder, ...Array.from({ length: 101 }, () => 'd')), { recursive: true });
    await expect(collect()).rejects.toThrow('more than 100 deep');
  });

  it('leaves no archives behind', async () => {
    mkdirSync(join(folder, 'd'));
    await collect();
    expect(readdirSync(root)).toHaveLength(2);
    for (const release of releases.splice(0)) await release();
    symlinkSync('x', join(folder, 'd', 'l'));
    await expect(collect()).rejects.toThrow(ArtifactInvalidError);
    expect(readdirSync(root)).toEqual(['artifacts']);
    mkdirSync(join(root, '.archives-of-somebody-killed', 'x'), { recursive: true });
    await removeOldArchives(root);
    expect(readdirSync(root)).toEqual(['artifacts']);
  });

  it('takes a file with two names as two files', async () => {
    writeFileSync(join(folder, 'a'), 'x');
    linkSync(join(folder, 'a'), join(folder, 'b'));
    expect((await collect()).map(({ name, type }) => `${name} ${type}`)).toEqual(['a file', 'b file']);
  });
});
