import { describe, expect, it } from 'vitest';
import { StoreError, type StoreErrorCode } from '../../../src/engine/store/store.ts';
import { failure, type Operation, SimulatedDisk, type SimulatedFailure } from './simulated-disk.ts';
import { openOn, stateOf } from './workload.ts';

const text = (value: string) => () => ({ bytes: Buffer.from(value) });
const codeOf = (promise: Promise<unknown>): Promise<StoreErrorCode | 'accepted'> =>
  promise.then(
    () => 'accepted',
    (error: unknown) => (error as StoreError).code,
  );

/** A disk on which some operations fail as long as it is told so. */
function failingDisk(): { disk: SimulatedDisk; fail: (fault: SimulatedFailure | undefined, ...operations: Operation[]) => void } {
  let current: { fault: SimulatedFailure; operations: Operation[] } | undefined;
  const disk = new SimulatedDisk((operation) => (current?.operations.includes(operation) ? current.fault : undefined));
  return {
    disk,
    fail: (fault, ...operations) => {
      current = fault && { fault, operations };
    },
  };
}

const cases: [string, StoreErrorCode, SimulatedFailure, Operation[]][] = [
  ['the disk is full', 'DiskFull', failure('ENOSPC'), ['write']],
  ['the quota is used up', 'DiskFull', failure('EDQUOT'), ['write']],
  ['the disk is so full that no file can be made', 'DiskFull', failure('ENOSPC'), ['write', 'open', 'rename']],
  ['the disk is found full by the sync', 'DiskFull', failure('ENOSPC'), ['datasync']],
  ['writes fail', 'WriteFailed', failure('EIO'), ['write']],
  ['writes and the repair fail', 'WriteFailed', failure('EIO'), ['write', 'truncate', 'datasync', 'open', 'remove']],
  ['syncs fail and lose the data', 'WriteFailed', failure('EIO'), ['datasync']],
  ['syncs fail and the data got there', 'WriteFailed', failure('EIO', true), ['datasync']],
  ['the disk is read-only', 'WriteFailed', failure('EROFS'), ['write', 'truncate', 'open', 'remove', 'rename']],
];

describe('disk faults', () => {
  it.each(cases)(
    'when %s, writes are refused with %s, reads go on, and writes work again afterwards',
    async (_when, code, fault, operations) => {
      const { disk, fail } = failingDisk();
      let store = await openOn(disk);
      await store.put('/a', 0, text('1'));
      fail(fault, ...operations);
      for (let attempt = 0; attempt < 3; attempt++) {
        const answers = [store.put('/a', 1, text('2')), store.put('/b', 0, text('3'))];
        expect(store.latest('/b')?.revision).toBe(3);
        expect(await Promise.all(answers.map(codeOf))).toEqual([code, code]);
        expect([stateOf(store), store.revision]).toEqual([new Map([['/a', '1']]), 1]);
        expect([store.latest('/b'), store.latest('/a')?.revision]).toEqual([undefined, 1]);
      }
      fail(undefined);
      expect((await store.put('/c', 0, text('4'))).revision).toBe(2);
      expect(store.eventsAfter(0).map(({ entry }) => entry.key)).toEqual(['/a', '/c']);
      // Neither a kill nor a power cut brings the refused writes back, or takes the others away.
      const expected = new Map([
        ['/a', '1'],
        ['/c', '4'],
      ]);
      for (const image of [
        disk.afterKill(),
        disk.afterPowerCut({ ...disk.unsynced, sector: () => 'written' }),
        disk.afterPowerCut({ names: 0, operations: 0, sector: () => 'old' }),
      ]) {
        store = await openOn(image);
        expect([stateOf(store), store.revision]).toEqual([expected, 2]);
        await store.close();
      }
    },
  );

  it('writes that wait behind a failed commit are refused with it, and so are those written while it is repaired', async () => {
    const { disk, fail } = failingDisk();
    const store = await openOn(disk);
    fail(failure('EIO'), 'datasync');
    const first = codeOf(store.put('/a', 0, text('1')));
    await Promise.resolve();
    await Promise.resolve();
    const second = codeOf(store.put('/b', 0, text('2')));
    expect([await first, await second]).toEqual(['WriteFailed', 'WriteFailed']);
    fail(undefined);
    expect((await store.put('/b', 0, text('3'))).revision).toBe(1);
    await store.close();
  });

  it('a refused write says what to do and keeps its cause', async () => {
    const { disk, fail } = failingDisk();
    const store = await openOn(disk);
    fail(failure('ENOSPC'), 'write');
    await expect(store.put('/a', 0, text('1'))).rejects.toMatchObject({
      message: 'Cannot write: the disk is full; free some space, then writes work again',
      cause: { code: 'ENOSPC' },
    });
    fail(undefined);
    await store.close();
  });

  it('a new segment that could not be finished does not cut off what is written to the old one', async () => {
    const { disk, fail } = failingDisk();
    const store = await openOn(disk);
    await store.put('/a', 0, text('1'));
    let failures = 0;
    for (const operation of ['open', 'write', 'datasync', 'syncDirectory'] as const) {
      fail(failure('EIO', true), operation);
      await store.snapshot().catch(() => failures++);
      fail(undefined);
      const { revision } = await store.put(`/${operation}`, 0, text('2'));
      const image = await openOn(disk.afterPowerCut({ ...disk.unsynced, sector: () => 'written' }));
      expect([image.revision, image.get(`/${operation}`)?.revision]).toEqual([revision, revision]);
      await image.close();
    }
    expect(failures).toBe(4);
    await store.close();
  });

  it('a snapshot that fails does not touch the writes, and is tried again later', async () => {
    let failing = false;
    const disk = new SimulatedDisk((operation, path) =>
      failing && operation === 'write' && path.endsWith('.tmp') ? failure('ENOSPC') : undefined,
    );
    const store = await openOn(disk, { snapshotAfterBytes: 1000 });
    failing = true;
    const write = (n: number) => store.put('/a', store.get('/a')?.revision ?? 0, text(`${n}`.padEnd(300)));
    for (let n = 0; n < 20; n++) await write(n);
    expect(store.stats()).toMatchObject({ snapshots: 0, revision: 20 });
    expect(store.stats().failedSnapshots).toBeGreaterThan(1);
    failing = false;
    for (let n = 0; n < 20; n++) await write(n);
    await new Promise((resolve) => setImmediate(resolve));
    expect(store.stats().snapshots).toBeGreaterThan(0);
    expect(store.stats().logBytes).toBeLessThan(4000);
    await store.close();
    expect(disk.paths().filter((path) => path.endsWith('.tmp'))).toEqual([]);
  });
});
