import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { spawnEngine } from '../../support/spawned-engine.ts';

/** Promise: a full disk refuses writes with a clear Status and nothing else; when there is space again they work, without a restart. */
const PATH = '/api/v1/namespaces/default/configmaps';
const folder = mkdtempSync(join(tmpdir(), 'tenantry-small-disk-'));
const mounted = mountSmallDisk(folder);

afterAll(() => {
  if (mounted) execFileSync('umount', ['-l', folder]);
  rmSync(folder, { recursive: true, force: true });
});

/** Needs the right to mount: where there is none the test is skipped. */
function mountSmallDisk(at: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', at], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function fillDisk(): string {
  const filler = join(folder, 'filler');
  let size = 24 * 1024 * 1024;
  while (size > 512) {
    try {
      writeFileSync(filler, Buffer.alloc(size), { flag: 'a' });
    } catch {
      size = Math.floor(size / 2);
    }
  }
  return filler;
}

it.skipIf(!mounted)(
  'a full disk refuses writes, lets reads and watches go on, and takes writes again when there is space',
  { timeout: 60_000 },
  async () => {
    const { target, stop } = await spawnEngine(join(folder, 'data'));
    const write = (name: string) => target.request('POST', PATH, { metadata: { name }, data: { text: 'x'.repeat(20_000) } });
    expect((await write('before')).status).toBe(201);
    const watch = await target.watch(`${PATH}?watch=1&resourceVersion=0`);
    expect((await watch.next())?.object.metadata.name).toMatch(/before|kube-root-ca/);

    const filler = fillDisk();
    const acknowledged: string[] = ['before'];
    let refused = 0;
    // Segments are allocated ahead, so that some writes still find their place.
    for (let i = 0; i < 2000 && refused < 20; i++) {
      const { status, body } = await write(`during-${i}`);
      if (status === 201) acknowledged.push(`during-${i}`);
      else {
        refused++;
        expect(status).toBe(503);
        expect(body).toMatchObject({ kind: 'Status', reason: 'ServiceUnavailable' });
        expect(body.message).toMatch(/disk of the data directory is full; free some space/);
      }
    }
    expect(refused).toBe(20);
    const { status, body } = await target.request('GET', PATH);
    expect(status).toBe(200);
    expect(body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(expect.arrayContaining(acknowledged));

    unlinkSync(filler);
    await expect.poll(async () => (await write('after')).status, { timeout: 15_000 }).toBe(201);
    acknowledged.push('after');
    const seen = new Set<string>();
    while (!seen.has('after')) {
      const event = await watch.next(5000);
      expect(event, `the watch tells of "after"; so far ${seen.size} names`).toBeDefined();
      seen.add(event.object.metadata.name);
    }
    for (const name of acknowledged.slice(1)) expect(seen).toContain(name);
    watch.stop();
    expect(await stop()).toBe(0);

    const again = await spawnEngine(join(folder, 'data'));
    const kept = (await again.target.request('GET', PATH)).body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
    expect(kept).toEqual(expect.arrayContaining(acknowledged));
    expect(kept.filter((name: string) => name.startsWith('during-') && !acknowledged.includes(name))).toEqual([]);
    await again.stop();
  },
);
