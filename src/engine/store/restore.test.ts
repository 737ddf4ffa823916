import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from './durable-store.ts';
import { createMemoryStore } from './memory-store.ts';
import { restoreStore } from './restore.ts';
import { createSealer } from './sealer.ts';
import type { Store } from './store.ts';

const text = (value: string) => () => ({ bytes: Buffer.from(value) });
let directory: string;
const target = () => join(directory, 'restored');

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tenantry-restore-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

async function collect(store: Store): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of store.backup()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* inChunksOf(size: number, bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function filledStore(): Promise<Store> {
  const store = createMemoryStore();
  await Promise.all(Array.from({ length: 500 }, (_, n) => store.put(`/k/${n}`, 0, text(`value ${n}`.padEnd(n * 10)))));
  await store.put('/k/7', 8, text('changed'));
  await store.remove('/k/9', 10, text('gone'));
  return store;
}

const describeStore = (store: Store) =>
  store.range('').entries.map((entry) => [entry.key, Buffer.from(entry.bytes).toString(), entry.revision, entry.createdRevision]);

describe('restoreStore', () => {
  it.each([7, 1000, 1_000_000])(
    'a restored store has the keys, values and revisions of the backup, received in chunks of %d',
    async (size) => {
      const store = await filledStore();
      const backup = await collect(store);
      expect(await restoreStore(target(), inChunksOf(size, backup), { revisionGap: 0 })).toEqual({ revision: 502, keys: 499 });
      const restored = await openStore(target());
      expect(describeStore(restored)).toEqual(describeStore(store));
      expect([restored.revision, restored.compactedRevision]).toEqual([502, 502]);
      await restored.close();
    },
  );

  it('a restored store begins far behind the backup, so that revisions given after it are not given again', async () => {
    const store = await filledStore();
    const { revision } = await restoreStore(target(), store.backup());
    expect(revision).toBeGreaterThan(store.revision + 1_000_000);
    let restored = await openStore(target());
    expect((await restored.put('/new', 0, text('x'))).revision).toBe(revision + 1);
    expect(() => restored.eventsAfter(502)).toThrow('compacted');
    await restored.close();
    restored = await openStore(target());
    expect([restored.revision, restored.count('')]).toEqual([revision + 1, 500]);
    await restored.close();
  });

  it('a backup holds the state of one revision while writes go on', async () => {
    const store = await filledStore();
    const expected = describeStore(store);
    const chunks: Uint8Array[] = [];
    for await (const chunk of store.backup()) {
      chunks.push(chunk);
      for (let n = 0; n < 5; n++) {
        const key = `/k/${chunks.length * 5 + n}`;
        await store.put(key, store.latest(key)?.revision ?? 0, text('later'));
      }
      store.compact(store.revision);
    }
    await restoreStore(target(), inChunksOf(5000, Buffer.concat(chunks)), { revisionGap: 0 });
    const restored = await openStore(target());
    expect(describeStore(restored)).toEqual(expected);
    await restored.close();
  });

  it.each<[string, (backup: Buffer) => Buffer, string, string]>([
    ['cut off in the middle', (backup) => backup.subarray(0, backup.length >> 1), 'Corrupt', 'cut off'],
    ['cut off by its last byte', (backup) => backup.subarray(0, -1), 'Corrupt', 'cut off'],
    ['cut off between blocks', (backup) => backup.subarray(0, -16), 'Corrupt', 'cut off'],
    ['empty', () => Buffer.alloc(0), 'Corrupt', 'ends within its header'],
    ['something else', () => Buffer.alloc(1000, 'x'), 'Corrupt', 'does not begin like a snapshot'],
    ['damaged', (backup) => flip(backup, 5000), 'Corrupt', 'checksum of block'],
    ['damaged in its header', (backup) => flip(backup, 17), 'Corrupt', 'checksum of its header'],
    ['followed by something', (backup) => Buffer.concat([backup, Buffer.from('x')]), 'Corrupt', 'something follows'],
    ['of a newer format', (backup) => flip(backup, 9), 'NewerFormat', 'use a newer release'],
  ])('a backup that is %s is refused and leaves the directory empty', async (_how, change, code, message) => {
    const backup = change(await collect(await filledStore()));
    const restoring = restoreStore(target(), inChunksOf(4096, backup));
    await expect(restoring).rejects.toMatchObject({ code });
    await expect(restoring).rejects.toThrow(message);
    expect(await readdir(target())).toEqual([]);
  });

  it('a directory that is not empty is refused and left as it is', async () => {
    await writeFile(join(directory, 'mine'), 'keep');
    await expect(restoreStore(directory, (await filledStore()).backup())).rejects.toThrow('it is not empty, it holds "mine"');
    expect(await readdir(directory)).toEqual(['mine']);
  });

  it('a directory that a store has open is refused', async () => {
    const open = await openStore(target());
    await expect(restoreStore(target(), (await filledStore()).backup())).rejects.toMatchObject({ code: 'Locked' });
    await open.close();
  });
});

describe('sealing', () => {
  const keyOf = (id: string, fill: number) => ({ id, secret: Buffer.alloc(32, fill) });
  const sealing = (...keys: ReturnType<typeof keyOf>[]) => ({ prefixes: ['/secrets/'], sealer: createSealer(keys) });
  const one = keyOf('one', 1);
  const two = keyOf('two', 2);

  async function onDisk(): Promise<string> {
    const names = await readdir(target());
    return (await Promise.all(names.map((name) => readFile(join(target(), name), 'latin1')))).join('');
  }

  async function storeWithSecret(): Promise<void> {
    const store = await openStore(target(), { sealing: sealing(one) });
    await store.put('/secrets/a', 0, text('hunter2'));
    await store.put('/configmaps/a', 0, text('readable'));
    await store.remove('/secrets/a', 1, text('hunter2, the end'));
    await store.put('/secrets/a', 0, text('hunter2 again'));
    await store.close();
  }

  it('a sealed value is plain in memory and nowhere on disk: log, snapshot, backup', async () => {
    await storeWithSecret();
    expect(await onDisk()).toContain('readable');
    expect(await onDisk()).not.toContain('hunter2');
    const store = await openStore(target(), { sealing: sealing(one) });
    expect(Buffer.from(store.get('/secrets/a')!.bytes).toString()).toBe('hunter2 again');
    expect(store.eventsAfter(0).map(({ entry }) => Buffer.from(entry.bytes).toString())).toContain('hunter2, the end');
    await store.snapshot();
    expect(await onDisk()).not.toContain('hunter2');
    expect((await collect(store)).includes('hunter2')).toBe(false);
    await store.close();
  });

  it('a rotated key is needed until the next snapshot, and no longer', async () => {
    await storeWithSecret();
    let store = await openStore(target(), { sealing: sealing(two, one) });
    await store.snapshot();
    await store.close();
    store = await openStore(target(), { sealing: sealing(two) });
    expect(Buffer.from(store.get('/secrets/a')!.bytes).toString()).toBe('hunter2 again');
    await store.close();
  });

  it.each([
    ['without keys', undefined, 'it is sealed and no key was given'],
    ['without the right key', sealing(two), 'it was sealed with key "one", which was not given'],
  ])('a store with sealed values does not open %s, and says so', async (_how, wrong, message) => {
    await storeWithSecret();
    await expect(openStore(target(), { sealing: wrong })).rejects.toThrow(message);
    await (await openStore(target(), { sealing: sealing(one) })).close();
  });

  it('values written before sealing was set up stay readable and are sealed by the next snapshot', async () => {
    let store = await openStore(target());
    await store.put('/secrets/a', 0, text('hunter2'));
    await store.close();
    store = await openStore(target(), { sealing: sealing(one) });
    expect(Buffer.from(store.get('/secrets/a')!.bytes).toString()).toBe('hunter2');
    await store.snapshot();
    await store.close();
    expect(await onDisk()).not.toContain('hunter2');
  });
});

function flip(backup: Buffer, at: number): Buffer {
  const changed = Buffer.from(backup);
  changed[at] ^= 1;
  return changed;
}
