import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/engine/store/durable-store.ts';

const mountPoint = mkdtempSync(join(tmpdir(), 'tenantry-full-'));
const mounted = tryMount();

/** A file system of 1 MB in memory; needs the right to mount. */
function tryMount(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mountPoint], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

afterAll(() => {
  if (mounted) execFileSync('umount', [mountPoint]);
  rmSync(mountPoint, { recursive: true, force: true });
});

describe.skipIf(!mounted)('a disk that is really full', () => {
  it('refuses writes with DiskFull, goes on reading, and writes again without a restart once space is back', async () => {
    const data = join(mountPoint, 'data');
    const ballast = join(mountPoint, 'ballast');
    let store = await openStore(data);
    const write = (n: number) => store.put(`/${n}`, 0, () => ({ bytes: Buffer.alloc(20_000, n) }));
    writeFileSync(ballast, Buffer.alloc(500_000));
    let written = 0;
    const refusal = await (async () => {
      for (; ; written++) await write(written);
    })().catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'DiskFull' });
    await expect(write(written)).rejects.toMatchObject({ code: 'DiskFull' });
    expect([written > 5, store.count(''), store.revision]).toEqual([true, written, written]);
    rmSync(ballast);
    expect((await write(written)).revision).toBe(written + 1);
    await store.close();
    store = await openStore(data);
    expect(store.range('').entries.every(({ key, bytes }) => bytes.length === 20_000 && bytes[7] === Number(key.slice(1)))).toBe(true);
    expect(store.count('')).toBe(written + 1);
    await store.close();
  });

  it('takes small writes until there is no room for one, although room is made ahead of them', async () => {
    const data = join(mountPoint, 'small');
    const ballast = join(mountPoint, 'ballast');
    rmSync(join(mountPoint, 'data'), { recursive: true, force: true });
    writeFileSync(ballast, Buffer.alloc(600_000));
    const store = await openStore(data);
    let written = 0;
    const refusal = await (async () => {
      for (; ; written++) await store.put(`/${written}`, 0, () => ({ bytes: Buffer.alloc(2000, 1) }));
    })().catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'DiskFull' });
    const { bavail, bsize } = statfsSync(mountPoint);
    expect([written * 2000 > 300_000, bavail * bsize < 64_000]).toEqual([true, true]);
    rmSync(ballast);
    await store.put('/after', 0, () => ({ bytes: Buffer.from('1') }));
    expect(store.count('')).toBe(written + 1);
    await store.close();
  });
});
