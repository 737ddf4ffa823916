import { expect, it } from 'vitest';
import { diskRoom, RESERVE_BYTES, storeStep } from './store-room.ts';

const MI = 1024 ** 2;

it.each([
  ['a large disk with much', { freeBytes: 1000 * MI, totalBytes: 100_000 * MI, hasReserve: true }, 'enough'],
  ['a large disk with little', { freeBytes: 63 * MI, totalBytes: 100_000 * MI, hasReserve: true }, 'low'],
  ['a large disk with a little more', { freeBytes: 80 * MI, totalBytes: 100_000 * MI, hasReserve: true }, 'between'],
  ['a small disk, whose little is much', { freeBytes: 6 * MI, totalBytes: 160 * MI, hasReserve: true }, 'enough'],
  [
    'one whose reserve was given away counts as if it were not',
    { freeBytes: RESERVE_BYTES, totalBytes: 160 * MI, hasReserve: false },
    'low',
  ],
])('diskRoom, %s', (_, view, expected) => {
  expect(diskRoom(view)).toBe(expected);
});

it.each([
  ['a store with room again is opened', [{ bytes: 10, bytesInUse: 10 }], false, 'open'],
  ['a full one forgets its history first', [{ bytes: 99, bytesInUse: 99 }], false, 'compact'],
  ['then it gives back what is free inside of it', [{ bytes: 99, bytesInUse: 50 }], true, 'defragment'],
  ['one that is full of what is needed waits for deletions', [{ bytes: 99, bytesInUse: 97 }], true, 'wait'],
  ['little is not worth it', [{ bytes: 98, bytesInUse: 92 }], true, 'wait'],
  [
    'one member that is full is enough',
    [
      { bytes: 10, bytesInUse: 10 },
      { bytes: 99, bytesInUse: 10 },
    ],
    true,
    'defragment',
  ],
])('storeStep, %s', (_, sizes, isCompacted, expected) => {
  expect(
    storeStep(
      sizes.map(({ bytes, bytesInUse }) => ({ bytes: bytes * MI, bytesInUse: bytesInUse * MI })),
      100 * MI,
      isCompacted,
    ),
  ).toBe(expected);
});
