import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openStore } from '../durable-store.ts';
import { createMemoryStore } from '../memory-store.ts';
import type { Store } from '../store.ts';
import { LiveBound } from './live-bound.ts';

const MAX = 1600;
const bytes = (size: number) => () => ({ bytes: Buffer.alloc(size) });
const put = (store: Store, key: string, size: number) => store.put(key, store.latest(key)?.revision ?? 0, bytes(size));
const outcomes = async (writes: Promise<unknown>[]) =>
  (await Promise.allSettled(writes)).map((write) => (write.status === 'fulfilled' ? 'taken' : (write.reason as { code: string }).code));

it('a burst, is refused from where it would be over the bound, before any of it is durable', async () => {
  const store = createMemoryStore({ maxLiveBytes: MAX });
  const burst = Array.from({ length: 20 }, (_, i) => put(store, `/${i % 10}${i < 10 ? 'a' : 'b'}`, 197));
  expect(await outcomes(burst)).toEqual(Array.from({ length: 20 }, (_, i) => (i < 8 ? 'taken' : 'StoreFull')));
  expect(store.revision).toBe(8);
  await store.close();
});

it('a full store, takes removals, what becomes smaller and a little for keys that are there, and what fits again', async () => {
  const store = createMemoryStore({ maxLiveBytes: MAX });
  await put(store, '/a', 798);
  await put(store, '/b', 798);
  expect(await outcomes([put(store, '/c', 1)])).toEqual(['StoreFull']);
  expect(await outcomes([put(store, '/a', 850), put(store, '/b', 898), put(store, '/a', 798), put(store, '/b', 700)])).toEqual([
    'taken',
    'StoreFull',
    'taken',
    'taken',
  ]);
  expect(await outcomes([put(store, '/c', 200)])).toEqual(['StoreFull']);
  // One that is being removed makes room at once, for those that wait behind it.
  expect(await outcomes([store.remove('/a', store.latest('/a')!.revision, bytes(798)), put(store, '/c', 850)])).toEqual(['taken', 'taken']);
  await store.close();
});

it('a store that is given a smaller bound than what it has, keeps that and takes no more', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tenantry-store-'));
  const former = await openStore(directory);
  await put(former, '/a', 2 * MAX);
  await former.close();
  const store = await openStore(directory);
  store.limitLiveBytes(MAX);
  expect(store.get('/a')?.bytes).toHaveLength(2 * MAX);
  expect(await outcomes([put(store, '/b', 1)])).toEqual(['StoreFull']);
  expect(await outcomes([store.remove('/a', store.get('/a')!.revision, bytes(1)), put(store, '/b', 1)])).toEqual(['taken', 'taken']);
  await store.close();
  await rm(directory, { recursive: true });
});

it('what waited for a commit that is refused, counts no more', () => {
  const bound = new LiveBound();
  bound.maxBytes = MAX;
  bound.waits(MAX);
  expect(bound.fits(0, 1, false)).toBe(false);
  bound.allRefused();
  expect(bound.fits(0, MAX, false)).toBe(true);
});
