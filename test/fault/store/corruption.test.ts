import { describe, expect, it } from 'vitest';
import type { StoreError } from '../../../src/engine/store/store.ts';
import { SimulatedDisk } from './simulated-disk.ts';
import { DIRECTORY, openOn, stateOf } from './workload.ts';

const text = (value: string) => () => ({ bytes: Buffer.from(value) });
const segment = (number: number) => `${DIRECTORY}/segment-${String(number).padStart(10, '0')}.log`;
const snapshot = (number: number) => `${DIRECTORY}/snapshot-${String(number).padStart(10, '0')}.snap`;
const HEADER = 64;

/** Three commits of one 1,000-byte value each, the power gone right after; with a closing mark when `closed`. */
async function threeCommits(closed = false): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk();
  const store = await openOn(disk, { snapshotAfterBytes: 1e9 });
  for (const key of ['/a', '/b', '/c']) await store.put(key, 0, text(key.padEnd(1000)));
  if (closed) await store.close();
  return disk;
}

/** Snapshot 2 and segment 2 with one commit behind it. */
async function snapshotAndCommit(): Promise<SimulatedDisk> {
  const disk = await threeCommits();
  const store = await openOn(disk);
  await store.snapshot();
  await store.put('/d', 0, text('4'));
  await store.close();
  return disk;
}

const flip = (at: number) => (content: Buffer) => {
  content[at < 0 ? content.length + at : at] ^= 0x40;
  return content;
};

/** What a segment holds, without the zeros ahead of its end that the next commits are written into. */
const written = (content: Buffer) => content.subarray(0, content.findLastIndex((byte) => byte !== 0) + 1);

async function refusal(disk: SimulatedDisk): Promise<StoreError> {
  return openOn(disk).then(
    async (store) => {
      await store.close();
      throw new Error('it opened');
    },
    (error: StoreError) => error,
  );
}

const damages: [string, () => Promise<SimulatedDisk>, (disk: SimulatedDisk) => void | Promise<void>, string][] = [
  [
    'the first commit is damaged',
    threeCommits,
    (disk) => disk.damage(segment(1), flip(HEADER + 500)),
    'segment-0000000001.log is damaged at byte 64',
  ],
  [
    'the length of the first commit is damaged',
    threeCommits,
    (disk) => disk.damage(segment(1), flip(HEADER + 15)),
    'is damaged at byte 64',
  ],
  ['the mark of the first commit is damaged', threeCommits, (disk) => disk.damage(segment(1), flip(HEADER)), 'is damaged at byte 64'],
  [
    'the last commit before a clean end is damaged',
    () => threeCommits(true),
    (disk) => disk.damage(segment(1), flip(-60)),
    'committed writes follow',
  ],
  [
    'the header of the segment is damaged',
    threeCommits,
    (disk) => disk.damage(segment(1), flip(30)),
    'the header of segment-0000000001.log is damaged',
  ],
  ['the snapshot is damaged', snapshotAndCommit, (disk) => disk.damage(snapshot(2), flip(700)), 'snapshot-0000000002.snap is damaged'],
  ['the snapshot is cut off', snapshotAndCommit, (disk) => disk.damage(snapshot(2), (content) => content.subarray(0, -16)), 'cut off'],
  ['the snapshot is missing', snapshotAndCommit, (disk) => disk.remove(snapshot(2)), 'segment-0000000001.log is missing'],
  ['the segment behind the snapshot is missing', snapshotAndCommit, (disk) => disk.remove(segment(2)), 'segment-0000000002.log is missing'],
  ['format.json is missing', threeCommits, (disk) => disk.remove(`${DIRECTORY}/format.json`), 'its format.json is missing'],
  [
    'format.json is not ours',
    threeCommits,
    (disk) => disk.damage(`${DIRECTORY}/format.json`, () => Buffer.from('{}')),
    'is not one of a store',
  ],
];

describe('a damaged directory', () => {
  it.each(damages)('is refused with Corrupt and what to do when %s', async (_when, make, damage, message) => {
    const disk = await make();
    await damage(disk);
    const before = disk.paths().filter((path) => !path.includes('lock'));
    const error = await refusal(disk);
    expect(error.code).toBe('Corrupt');
    expect(error.message).toContain(message);
    expect(error.message).toContain('restore a backup into an empty directory');
    // Nothing is repaired, removed or left locked: what is there may still be rescued.
    expect(disk.paths()).toEqual(before);
  });

  it('is refused with NewerFormat and what to do when a newer release wrote it', async () => {
    const disk = await threeCommits();
    disk.damage(`${DIRECTORY}/format.json`, () => Buffer.from('{"kind":"tenantry-store","version":2}'));
    const error = await refusal(disk);
    expect(error.code).toBe('NewerFormat');
    expect(error.message).toBe(
      `Cannot open the store in "${DIRECTORY}": its format 2 is newer than 1, the newest this release knows; use the release that wrote it`,
    );
  });

  it.each<[string, (content: Buffer) => Buffer]>([
    ['is cut short', (content) => content.subarray(0, -300)],
    ['is followed by zeros', (content) => Buffer.concat([content.subarray(0, -300), Buffer.alloc(5000)])],
    ['is followed by garbage', (content) => Buffer.concat([content.subarray(0, -300), Buffer.alloc(5000, 'garbage')])],
    ['has a wrong checksum', flip(-5)],
  ])('is opened up to the commit before when the last one was never finished and %s', async (_how, damage) => {
    const disk = await threeCommits();
    disk.damage(segment(1), (content) => damage(written(content)));
    const store = await openOn(disk);
    expect([...stateOf(store).keys()]).toEqual(['/a', '/b']);
    expect((await store.put('/c', 0, text('again'))).revision).toBe(3);
    await store.close();
    const again = await openOn(disk);
    expect([...stateOf(again).keys()]).toEqual(['/a', '/b', '/c']);
    await again.close();
  });

  it('ends with its last commit when it was closed, and has zeros behind it when it was not', async () => {
    const [closed, cut] = [await threeCommits(true), await threeCommits()].map((disk) => contentOf(disk, segment(1)));
    // The closing mark is a commit without records.
    expect(closed.length).toBe(written(cut).length + 40);
    expect(cut.length).toBe(HEADER + 512 * 1024);
  });

  it('is not mistaken for damaged when values look like commits', async () => {
    const disk = await threeCommits();
    let store = await openOn(disk);
    // The whole log as a value, with everything that could pass for a commit behind a torn one.
    await store.put('/log', 0, () => ({ bytes: contentOf(disk, segment(1)) }));
    disk.damage(segment(1), (content) => written(content).subarray(0, -10));
    store = await openOn(disk);
    expect([...stateOf(store).keys()]).toEqual(['/a', '/b', '/c']);
    await store.close();
  });

  it('falls back to the older snapshot while the segments behind it are still there', async () => {
    const disk = await snapshotAndCommit();
    const older = [snapshot(2), segment(2)].map((path) => [path, Buffer.from(contentOf(disk, path))] as const);
    const store = await openOn(disk);
    await store.snapshot();
    await store.close();
    for (const [path, content] of older) {
      const file = await disk.open(path, 'create');
      await file.write([content], 0);
    }
    disk.damage(snapshot(3), flip(100));
    const again = await openOn(disk);
    expect([...stateOf(again).keys()]).toEqual(['/a', '/b', '/c', '/d']);
    await again.close();
  });
});

function contentOf(disk: SimulatedDisk, path: string): Buffer {
  let copy: Buffer = Buffer.alloc(0);
  disk.damage(path, (content) => (copy = content));
  return copy;
}
