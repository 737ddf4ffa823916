import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeAtomically } from '../../../src/engine/node/volumes/disk/atomic-writer.ts';
import { seededRandom } from '../../../src/lib/backoff.ts';

const FILES = ['a', 'sub/b', 'c'];
const KILLS = 12;
let home: string;
let writer: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'tenantry-crash-'));
  writer = join(home, 'writer.mjs');
  const script = `
    import { writeAtomically } from './src/engine/node/volumes/disk/atomic-writer.ts';
    const files = (version) => new Map(${JSON.stringify(FILES)}.map((path) => [path, { data: Buffer.from(String(version).repeat(1000)), mode: 0o644 }]));
    for (let version = 0; ; version = (version + 1) % 10) await writeAtomically(process.argv[2], files(version), { now: Date.now() });
  `;
  const stdin = { contents: script, resolveDir: process.cwd(), loader: 'ts' as const };
  await build({ stdin, bundle: true, platform: 'node', format: 'esm', outfile: writer });
});
afterAll(() => rm(home, { recursive: true, force: true }));

/** What a container sees; undefined for a file that is not there. */
function contentOf(folder: string): Promise<(string | undefined)[]> {
  return Promise.all(FILES.map((path) => readFile(join(folder, path), 'utf8').catch(() => undefined)));
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

describe('a writer that is killed', () => {
  it('leaves the old content or the new one, and nothing that the next writer does not clear away', async () => {
    const random = seededRandom(4);
    const folder = join(home, 'volume');
    await mkdir(folder);
    await writeFile(join(home, 'beside'), 'x');
    const current = (): Promise<string | undefined> => readlink(join(folder, '..data')).catch(() => undefined);
    for (let kill = 0; kill < KILLS; kill++) {
      const before = await current();
      const child = spawn(process.execPath, [writer, folder], { stdio: 'ignore' });
      const ended = once(child, 'exit');
      while ((await current()) === before) await pause(1);
      await pause(random() * 30);
      child.kill('SIGKILL');
      await ended;
      // The links of a first write may still be missing: they are made after the content, by the next writer at the latest.
      const seen = (await contentOf(join(folder, '..data'))).map((text) => text?.slice(0, 1));
      expect(new Set(seen).size).toBe(1);
      expect(seen[0]).toMatch(/^\d$/);
      const last = new Map(FILES.map((path) => [path, { data: Buffer.from('last'), mode: 0o644 }]));
      await writeAtomically(folder, last, { now: Date.now() });
      expect(await contentOf(folder)).toEqual(['last', 'last', 'last']);
      expect((await readdir(folder)).toSorted()).toEqual([await readlink(join(folder, '..data')), '..data', 'a', 'c', 'sub'].toSorted());
    }
  });
});
