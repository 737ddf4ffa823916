import { expect, it } from 'vitest';
import type { DurableStore } from '../engine/store/durable-store.ts';
import { createMemoryStore } from '../engine/store/memory-store.ts';
import { FakeClock } from '../lib/clock-fake.ts';
import { StoreWatch } from './store-watch.ts';

const MAX = 1000;
const bytes = (size: number) => () => ({ bytes: Buffer.alloc(size) });

function setUp() {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const live = createMemoryStore({ maxLiveBytes: MAX });
  const liveBytes = () => live.range('').entries.reduce((sum, { key, bytes: value }) => sum + key.length + value.length, 0);
  const store = Object.assign(live, { stats: () => ({ liveBytes: liveBytes() }) }) as unknown as DurableStore;
  const watch = new StoreWatch(MAX, clock);
  const told: unknown[] = [];
  watch.onChange((event) => told.push(event));
  watch.observe(store);
  const put = (key: string, size: number) =>
    store.put(key, store.latest(key)?.revision ?? 0, bytes(size)).then(
      () => 'taken',
      ({ code }: { code: string }) => code,
    );
  return { clock, store, told, put };
}

const FULL = { type: 'store', full: true };
const ROOM = { type: 'store', full: false };

it('a store that is full, is told once, and again when so much was removed that there is room', async () => {
  const { clock, store, told, put } = setUp();
  expect([await put('/a', 998), await put('/b', 200), await put('/b', 200)]).toEqual(['taken', 'StoreFull', 'StoreFull']);
  expect(await put('/a', 999)).toBe('taken');
  await clock.advance(60_000);
  expect(told).toEqual([FULL]);
  await store.remove('/a', store.latest('/a')!.revision, bytes(1));
  await clock.advance(5000);
  expect(told).toEqual([FULL, ROOM]);
});

it('a store that takes small ones and refuses large ones, is not told to be full for long', async () => {
  const { clock, told, put } = setUp();
  expect([await put('/a', 900), await put('/b', 200), await put('/c', 10), await put('/b', 200)]).toEqual([
    'taken',
    'StoreFull',
    'taken',
    'StoreFull',
  ]);
  expect(told).toEqual([FULL]);
  await clock.advance(5000);
  expect(told).toEqual([FULL, ROOM]);
});
