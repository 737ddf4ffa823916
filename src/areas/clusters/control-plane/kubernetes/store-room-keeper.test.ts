import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { RESERVE_BYTES, type DiskView } from './model/store-room.ts';
import { StoreRoomKeeper, type StoreTrouble } from './store-room-keeper.ts';

const GI = 1024 ** 3;
const MI = 1024 ** 2;
const ROOMY: DiskView = { freeBytes: 10 * GI, totalBytes: 100 * GI, hasReserve: true };
const LOOK_MS = 1000;

describe('StoreRoomKeeper', () => {
  let clock: FakeClock;
  let disk: DiskView;
  /** What happened to the store, in order. */
  let story: string[];
  let troubles: (StoreTrouble | undefined)[];
  let alarms: Set<string>;
  let size: { bytes: number; bytesInUse: number; revision: string };
  let deadMember: number | undefined;
  let keeper: StoreRoomKeeper;

  const member = (index: number) => {
    const answer = <T>(value: T) => (index === deadMember ? Promise.reject(new Error('no answer')) : Promise.resolve(value));
    return {
      status: () => answer({ id: `m${index}`, leader: 'm0', ...size }),
      alarms: () => answer([...alarms]),
      async setAlarm(id: string, on: boolean) {
        await answer(undefined);
        story.push(on ? 'close' : 'open');
        if (on) alarms.add(id);
        else alarms.delete(id);
      },
      async compact(revision: string) {
        await answer(undefined);
        story.push(`compact ${revision}`);
      },
      async defragment() {
        await answer(undefined);
        story.push('defragment');
        size.bytes = size.bytesInUse;
      },
    };
  };

  beforeEach(() => {
    clock = new FakeClock('2026-01-01T00:00:00Z');
    disk = ROOMY;
    story = [];
    troubles = [];
    alarms = new Set();
    size = { bytes: 10 * MI, bytesInUse: 10 * MI, revision: '5' };
    deadMember = undefined;
    keeper = new StoreRoomKeeper({
      members: [member(0), member(1)],
      disk: () => disk,
      setReserve(there) {
        if (there !== disk.hasReserve) {
          story.push(there ? 'take the reserve' : 'give the reserve');
          disk = { ...disk, hasReserve: there, freeBytes: disk.freeBytes + (there ? -1 : 1) * RESERVE_BYTES };
        }
        return Promise.resolve();
      },
      quotaBytes: 100 * MI,
      tell: (trouble) => troubles.push(trouble),
      clock,
    });
    keeper.start();
  });

  it('closes a store before its disk is full, and opens it when there is room', async () => {
    disk = { ...ROOMY, freeBytes: 1000 };
    await clock.advance(5 * LOOK_MS);
    expect(story).toEqual(['give the reserve', 'close']);
    expect(troubles).toEqual(['disk']);
    disk = { ...disk, freeBytes: GI };
    await clock.advance(LOOK_MS);
    expect(story.slice(2)).toEqual(['take the reserve', 'open']);
    expect(troubles).toEqual(['disk', undefined]);
  });

  it('closes it by whichever member answers', async () => {
    deadMember = 0;
    disk = { ...ROOMY, freeBytes: 1000 };
    await clock.advance(2 * LOOK_MS);
    expect([...alarms]).toEqual(['m1']);
  });

  it('closes it anew when etcd ended because it could not write', async () => {
    disk = { ...ROOMY, freeBytes: 1000 };
    await clock.advance(LOOK_MS);
    story.length = 0;
    await keeper.makeRoomToStart(true);
    await clock.advance(LOOK_MS);
    expect(story).toEqual(['close']);
    expect(troubles).toEqual(['disk']);
  });

  it('makes room in a store that has reached its limit as far as things were deleted, and opens it then', async () => {
    size = { bytes: 99 * MI, bytesInUse: 99 * MI, revision: '5' };
    alarms.add('m0');
    await clock.advance(10 * LOOK_MS);
    expect(story).toEqual(['compact 5']);
    expect(troubles).toEqual(['store']);
    await clock.advance(10 * LOOK_MS);
    expect(story).toEqual(['compact 5']);
    size = { bytes: 99 * MI, bytesInUse: 40 * MI, revision: '9' };
    await clock.advance(10 * LOOK_MS);
    expect(story).toEqual(['compact 5', 'compact 9', 'defragment', 'defragment', 'open']);
    expect(troubles).toEqual(['store', undefined]);
  });

  it('asks a store that is well seldom', async () => {
    let asked = 0;
    const quiet = new StoreRoomKeeper({
      members: [{ ...member(0), alarms: () => Promise.resolve([]).finally(() => asked++) }],
      disk: () => ROOMY,
      setReserve: () => Promise.resolve(),
      quotaBytes: 100 * MI,
      tell: () => {},
      clock,
    });
    quiet.start();
    await clock.advance(60 * LOOK_MS);
    expect(asked).toBe(6);
    quiet.stop();
  });
});
