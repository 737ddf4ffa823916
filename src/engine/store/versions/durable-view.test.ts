import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DurableView } from './durable-view.ts';
import { Version } from './version.ts';

const UNLIMITED = { events: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };

function write(view: DurableView, key: string, size: number, removed = false): void {
  view.apply(new Version(key, Buffer.alloc(size), view.revision + 1, 1, removed));
  view.enforceLimit();
}

describe('DurableView', () => {
  it('range at a revision is what range gave when that was the newest, whatever was written and compacted since', async () => {
    const operation = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), removed: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 60 }), fc.nat(60), async (operations, compactAt) => {
        const view = new DurableView(UNLIMITED);
        const past: unknown[] = [[]];
        for (const { key, removed } of operations) {
          write(view, key, 1, removed && view.get(key) !== undefined);
          past.push(view.range('').entries);
        }
        view.compact(Math.min(compactAt, view.revision));
        for (let revision = view.compactedRevision; revision <= view.revision; revision++) {
          expect(view.range('', { revision }).entries).toEqual(past[revision]);
        }
      }),
    );
  });

  it.each([
    ['events', { ...UNLIMITED, events: 10 }, 10],
    ['bytes', { ...UNLIMITED, bytes: 7000 }, 5],
  ])('history stays within its limit of %s, however much is written', (_what, limit, kept) => {
    const view = new DurableView(limit);
    for (let n = 0; n < 500; n++) write(view, `${n % 3}`, 1000);
    expect(view.historyCost.events).toBe(kept);
    expect(view.compactedRevision).toBe(500 - kept);
    expect(view.eventsAfter(500 - kept)).toHaveLength(kept);
  });

  it('history forgets keys that are removed, so that names that come and go do not add up', () => {
    const view = new DurableView({ ...UNLIMITED, events: 10 });
    for (let n = 0; n < 300; n++) {
      write(view, `key-${n}`, 10);
      write(view, `key-${n}`, 10, true);
    }
    expect([view.liveKeys, view.liveBytes, view.count('')]).toEqual([0, 0, 0]);
    expect(view.range('', { revision: view.compactedRevision }).entries).toEqual([]);
  });

  it('compact drops a long past in slices and refuses reads of it at once', async () => {
    const view = new DurableView(UNLIMITED);
    for (let n = 0; n < 20_000; n++) write(view, 'a', 10);
    view.compact(19_999);
    expect(() => view.eventsAfter(19_998)).toThrow('was compacted');
    expect(view.historyCost.events).toBeGreaterThan(10_000);
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(view.historyCost.events).toBe(1);
    expect(view.get('a')?.older?.older).toBeUndefined();
  });

  it('capture holds the state of its moment', () => {
    const view = new DurableView(UNLIMITED);
    write(view, 'b', 1);
    write(view, 'a', 2);
    const captured = view.capture();
    write(view, 'a', 3);
    write(view, 'b', 3, true);
    view.compact(4);
    expect(captured.map(({ key, bytes }) => [key, bytes.length])).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
  });
});
