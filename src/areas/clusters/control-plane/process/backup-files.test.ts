import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { backupsIn, writeBackup } from './backup-files.ts';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'backups-'))));
afterEach(() => rm(folder, { recursive: true }));

const archive =
  (...chunks: string[]) =>
  () =>
    Promise.resolve(Readable.from(chunks.map((chunk) => Buffer.from(chunk))));

it('writeBackup keeps what is as large as allowed', async () => {
  expect(await writeBackup(folder, 'monday', archive('1234', '5678'), { maxBytes: 8 })).toMatchObject({ name: 'monday', bytes: 8 });
  expect(await backupsIn(folder)).toMatchObject([{ name: 'monday', bytes: 8 }]);
});

it('writeBackup takes no more than allowed from a control plane that never ends, and leaves nothing of it', async () => {
  let sent = 0;
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc((sent++, 1024));
    })(),
  );
  const written = writeBackup(folder, 'monday', () => Promise.resolve(endless), { maxBytes: 100 * 1024 });
  await expect(written).rejects.toMatchObject({ reason: 'BackupTooLarge', afterMs: 600_000 });
  await expect(written).rejects.toThrow(
    'Cannot write backup "monday": it is larger than 102400 bytes, which is all that one may have; delete objects that are not needed; it is tried again within 10 minutes',
  );
  expect(sent).toBeLessThan(1000);
  expect(endless.destroyed).toBe(true);
  expect(await readdir(folder)).toEqual([]);
});

it('writeBackup ends when it is told to, and leaves nothing of what has come', async () => {
  const stop = new AbortController();
  const slow = new Readable({ read() {} });
  slow.push(Buffer.from('1234'));
  const written = writeBackup(folder, 'monday', () => Promise.resolve(slow), { maxBytes: 100, signal: stop.signal });
  await expect.poll(() => readdir(folder)).toEqual(['monday.tmp']);
  stop.abort();
  await expect(written).rejects.toThrow('abort');
  expect(await readdir(folder)).toEqual([]);
});
