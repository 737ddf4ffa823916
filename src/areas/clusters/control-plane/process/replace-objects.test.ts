import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { replaceObjects } from './replace-objects.ts';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'restore-'))));
afterEach(() => rm(folder, { recursive: true }));

/** A program that says what is given, once it was given all of a backup, and then goes on for ever. */
async function aProgram(says: string) {
  const program = join(folder, 'program.mjs');
  const lines = [
    `import { writeFileSync, writeSync } from 'node:fs';`,
    `process.stdin.on('end', () => { writeFileSync('pid', String(process.pid)); ${says} }).resume();`,
    `setInterval(() => {}, 1000);`,
  ];
  await writeFile(program, lines.join('\n'));
  await writeFile(join(folder, 'backup'), 'objects');
  return { program, folder, logPath: join(folder, 'log') };
}

/** Undefined until all of it is written. */
const pid = () =>
  readFile(join(folder, 'pid'), 'utf8').then(
    (text) => Number(text) || undefined,
    () => undefined,
  );
const isAlive = (id: number) => {
  try {
    return process.kill(id, 0);
  } catch {
    return false;
  }
};

it.each<[string, string, string[]]>([
  ['while objects are read', '', []],
  ['while objects are replaced', `writeSync(3, '{"type":"restored","encryptionKeys":"keys","objects":1}\\n');`, ['keys']],
])('replaceObjects ends at once when it is told to, %s, and so does its program', { timeout: 30_000 }, async (_name, says, kept) => {
  const stop = new AbortController();
  const keys: string[] = [];
  const keepKeys = async (each: string) => void keys.push(each);
  const replaced = replaceObjects(await aProgram(says), join(folder, 'backup'), keepKeys, stop.signal);
  await expect.poll(async () => [await pid(), keys], { timeout: 20_000 }).toEqual([expect.any(Number), kept]);
  stop.abort();
  await expect(replaced).rejects.toThrow('abort');
  const ended = (await pid())!;
  // One that has ended has its number until Node.js has heard of it.
  await expect.poll(() => isAlive(ended), { timeout: 10_000 }).toBe(false);
});

it('replaceObjects starts nothing when it was told to end before', async () => {
  const options = await aProgram('');
  await expect(replaceObjects(options, join(folder, 'backup'), () => Promise.resolve(), AbortSignal.abort())).rejects.toThrow('abort');
  await expect(readFile(options.logPath)).rejects.toThrow('ENOENT');
});
