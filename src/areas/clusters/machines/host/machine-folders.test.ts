import { mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MachineError } from '../machines.ts';
import { MachineFolders, type MachineRecord } from './machine-folders.ts';

const EI = 1024 ** 6;
let root: string;
let folders: MachineFolders;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tenantry-folders-'));
  folders = new MachineFolders(root);
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Its user is this one: without root there is no other. */
async function aRecord(id: string): Promise<MachineRecord> {
  return { ...(await folders.ensure(id, 'u1', 'tcg')), user: process.getuid!() };
}

it('a disk that the file system has no room for is refused, and leaves nothing', async () => {
  const refusal = folders.prepare(await aRecord('w1'), EI, Buffer.alloc(0));
  await expect(refusal).rejects.toThrow(MachineError);
  await expect(refusal).rejects.toThrow(/it takes 1073741824Gi, and of \S+Gi that are free .* promised 0Gi/);
  expect(await readdir(folders.folder('w1'))).toEqual([]);
});

it('what the disks of others may grow to is not given away', async () => {
  await folders.prepare(await aRecord('w1'), EI, Buffer.alloc(0)).catch(() => {});
  await writeFile(join(folders.folder('w1'), 'disk'), '');
  await truncate(join(folders.folder('w1'), 'disk'), 1024 ** 4 * 8);
  await expect(folders.prepare(await aRecord('w2'), EI, Buffer.alloc(0))).rejects.toThrow(/promised 8192Gi/);
});
