import { link, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { FolderSizes } from './folder-size.ts';

let folder: string;
let clock: FakeClock;
let sizes: FolderSizes;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenantry-size-'));
  clock = new FakeClock();
  sizes = new FolderSizes(clock);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('FolderSizes', () => {
  it('counts what is below once, and follows no links', async () => {
    const empty = await sizes.sizeOf(folder);
    await mkdir(join(folder, 'sub'));
    await writeFile(join(folder, 'sub', 'file'), Buffer.alloc(1_000_000, 1));
    await link(join(folder, 'sub', 'file'), join(folder, 'again'));
    await symlink('/usr', join(folder, 'elsewhere'));
    await clock.advance(10_000);
    const used = (await sizes.sizeOf(folder)) - empty;
    expect(used).toBeGreaterThanOrEqual(1_000_000);
    expect(used).toBeLessThan(1_100_000);
  });

  it('measures again only when the last measurement is old', async () => {
    const before = await sizes.sizeOf(folder);
    await writeFile(join(folder, 'file'), Buffer.alloc(100_000, 1));
    await clock.advance(9_999);
    expect(await sizes.sizeOf(folder)).toBe(before);
    await clock.advance(1);
    expect(await sizes.sizeOf(folder)).toBeGreaterThan(before);
  });

  it('a folder that has gone uses nothing', async () => {
    await rm(folder, { recursive: true });
    expect(await sizes.sizeOf(folder)).toBe(0);
  });

  it('forgets', async () => {
    const before = await sizes.sizeOf(folder);
    await writeFile(join(folder, 'file'), Buffer.alloc(100_000, 1));
    sizes.forget(folder);
    expect(await sizes.sizeOf(folder)).toBeGreaterThan(before);
  });
});
