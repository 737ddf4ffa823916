import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Entry, type Store, StoreError, type StoreErrorCode, type StoreEvent } from '../../../src/engine/store/store.ts';

export interface StoreDriver {
  open(): Promise<Store>;
  /** Opens what the closed store left, for drivers that keep it. */
  reopen?(): Promise<Store>;
  dispose(): Promise<void>;
}

const text = (value: string) => () => ({ bytes: Buffer.from(value) });
const read = (entry: Entry | undefined) => entry && Buffer.from(entry.bytes).toString();
const describeEvent = ({ type, revision, entry, previous }: StoreEvent) =>
  `${revision} ${type} ${entry.key}=${read(entry)}${previous ? ` was ${read(previous)}@${previous.revision}` : ''}`;

function codeOf(action: () => unknown): StoreErrorCode | undefined {
  try {
    action();
  } catch (error) {
    if (error instanceof StoreError) return error.code;
    throw error;
  }
  return undefined;
}

/** What every driver of the store keeps. */
export function storeSuite(makeDriver: () => StoreDriver): void {
  let driver: StoreDriver;
  let store: Store;

  beforeEach(async () => {
    driver = makeDriver();
    store = await driver.open();
  });

  afterEach(async () => {
    await store.close();
    await driver.dispose();
  });

  const putAll = async (...pairs: [string, string][]) => {
    for (const [key, value] of pairs) await store.put(key, store.latest(key)?.revision ?? 0, text(value));
  };

  describe('put', () => {
    it('put gives revisions from 1 on, one per write', async () => {
      expect(store.revision).toBe(0);
      const first = await store.put('/a', 0, text('1'));
      const second = await store.put('/b', 0, text('2'));
      expect([first.revision, second.revision, store.revision]).toEqual([1, 2, 2]);
    });

    it('put hands the revision to the encoder before it returns', async () => {
      const seen: number[] = [];
      const written = store.put('/a', 0, (revision) => {
        seen.push(revision);
        return { bytes: Buffer.from(`rv ${revision}`), attachment: { parsed: true } };
      });
      expect(seen).toEqual([1]);
      expect(read(store.latest('/a'))).toBe('rv 1');
      const entry = await written;
      expect(entry.attachment).toEqual({ parsed: true });
      expect(store.get('/a')).toBe(entry);
    });

    it('put keeps the created revision over updates and renews it after a removal', async () => {
      await putAll(['/a', '1'], ['/b', '1'], ['/a', '2']);
      expect(store.get('/a')).toMatchObject({ revision: 3, createdRevision: 1 });
      await store.remove('/a', 3, text('gone'));
      await putAll(['/a', '3']);
      expect(store.get('/a')).toMatchObject({ revision: 5, createdRevision: 5 });
    });

    it.each<[string, string, number]>([
      ['the key exists and must not', '/a', 0],
      ['the key is missing and must not be', '/x', 1],
      ['the key has another revision', '/a', 7],
    ])('put throws Conflict synchronously and changes nothing when %s', async (_when, key, expected) => {
      await putAll(['/a', '1']);
      const encode = vi.fn(text('2'));
      expect(codeOf(() => store.put(key, expected, encode))).toBe('Conflict');
      expect(encode).not.toHaveBeenCalled();
      expect([store.revision, read(store.latest('/a'))]).toEqual([1, '1']);
    });

    it('put checks against writes that wait for their commit', async () => {
      const first = store.put('/a', 0, text('1'));
      expect(codeOf(() => store.put('/a', 0, text('2')))).toBe('Conflict');
      const second = store.put('/a', 1, text('2'));
      expect((await first).revision).toBe(1);
      expect((await second).revision).toBe(2);
      expect(read(store.get('/a'))).toBe('2');
    });

    it('put leaves no trace when the encoder throws', async () => {
      expect(() =>
        store.put('/a', 0, () => {
          throw new RangeError('too large');
        }),
      ).toThrow(RangeError);
      expect(store.latest('/a')).toBeUndefined();
      expect((await store.put('/b', 0, text('1'))).revision).toBe(1);
    });
  });

  describe('remove', () => {
    it('remove takes the key away and resolves to its last state', async () => {
      await putAll(['/a', '1']);
      const removed = await store.remove('/a', 1, text('last'));
      expect(removed).toMatchObject({ key: '/a', revision: 2, createdRevision: 1 });
      expect(read(removed)).toBe('last');
      expect([store.get('/a'), store.latest('/a'), store.count('')]).toEqual([undefined, undefined, 0]);
    });

    it.each<[string, string, number]>([
      ['the key is missing', '/x', 0],
      ['the key has another revision', '/a', 2],
    ])('remove throws Conflict synchronously when %s', async (_when, key, expected) => {
      await putAll(['/a', '1']);
      expect(codeOf(() => store.remove(key, expected, text('')))).toBe('Conflict');
    });

    it('remove makes room for a new key at once', async () => {
      await putAll(['/a', '1']);
      const removed = store.remove('/a', 1, text('last'));
      const again = store.put('/a', 0, text('2'));
      await Promise.all([removed, again]);
      expect(store.get('/a')).toMatchObject({ revision: 3, createdRevision: 3 });
    });
  });

  describe('visibility', () => {
    it('readers do not see a write before its commit, latest does', async () => {
      const commits: string[][] = [];
      store.onCommit((events) => commits.push(events.map(describeEvent)));
      const written = store.put('/a', 0, text('1'));
      expect(read(store.latest('/a'))).toBe('1');
      expect([store.get('/a'), store.revision, store.range('').entries, store.count(''), store.eventsAfter(0), commits]).toEqual([
        undefined,
        0,
        [],
        0,
        [],
        [],
      ]);
      await written;
      expect([read(store.get('/a')), store.revision, store.count('')]).toEqual(['1', 1, 1]);
      expect(commits).toEqual([['1 put /a=1']]);
    });

    it('writes of one turn of the event loop share one commit', async () => {
      const commits: string[][] = [];
      store.onCommit((events) => commits.push(events.map(describeEvent)));
      await Promise.all([store.put('/a', 0, text('1')), store.put('/b', 0, text('2')), store.put('/a', 1, text('3'))]);
      expect(commits).toEqual([['1 put /a=1', '2 put /b=2', '3 put /a=3 was 1@1']]);
    });

    it('the listener has run and readers see the write when the promise resolves', async () => {
      const order: string[] = [];
      store.onCommit(() => order.push(`listener, revision ${store.revision}`));
      await store.put('/a', 0, text('1')).then(() => order.push('resolved'));
      expect(order).toEqual(['listener, revision 1', 'resolved']);
    });

    it('a listener that stopped is not called, the others are', async () => {
      const calls: string[] = [];
      const stop = store.onCommit(() => calls.push('stopped'));
      store.onCommit(() => calls.push('kept'));
      stop();
      await putAll(['/a', '1']);
      expect(calls).toEqual(['kept']);
    });

    it('a listener may write', async () => {
      const nested: Promise<Entry>[] = [];
      const stop = store.onCommit(() => {
        stop();
        nested.push(store.put('/b', 0, text('2')));
      });
      await putAll(['/a', '1']);
      expect((await nested[0]).revision).toBe(2);
    });
  });

  describe('range', () => {
    const keys = (...args: Parameters<Store['range']>) => store.range(...args).entries.map(({ key }) => key);

    beforeEach(() => putAll(['/p/b', '1'], ['/p/a', '2'], ['/pp', '3'], ['/p/c', '4'], ['/o', '5']));

    it.each<[string, string, object, string[], boolean]>([
      ['everything under the prefix in order', '/p/', {}, ['/p/a', '/p/b', '/p/c'], false],
      ['everything for the empty prefix', '', {}, ['/o', '/p/a', '/p/b', '/p/c', '/pp'], false],
      ['nothing under a prefix without keys', '/x', {}, [], false],
      ['a key that is the prefix', '/pp', {}, ['/pp'], false],
      ['no more than the limit, and says that there is more', '/p/', { limit: 2 }, ['/p/a', '/p/b'], true],
      ['says that there is no more when the limit is exact', '/p/', { limit: 3 }, ['/p/a', '/p/b', '/p/c'], false],
      ['what is behind a key', '/p/', { after: '/p/a' }, ['/p/b', '/p/c'], false],
      ['what is behind a key that is not there', '/p/', { after: '/p/aa', limit: 1 }, ['/p/b'], true],
      ['all of the prefix when the key is before it', '/p/', { after: '/a' }, ['/p/a', '/p/b', '/p/c'], false],
      ['nothing when the key is behind the prefix', '/p/', { after: '/z' }, [], false],
    ])('range gives %s', (_what, prefix, options, expected, more) => {
      const range = store.range(prefix, options);
      expect(range.entries.map(({ key }) => key)).toEqual(expected);
      expect([range.more, range.revision]).toEqual([more, 5]);
    });

    it('range gives the state at an older revision', async () => {
      await putAll(['/p/a', '6'], ['/p/d', '7']);
      await store.remove('/p/b', 1, text('gone'));
      await putAll(['/p/b', '9']);
      const at = (revision: number) => store.range('/p/', { revision }).entries.map((entry) => `${entry.key}=${read(entry)}`);
      expect(at(1)).toEqual(['/p/b=1']);
      expect(at(5)).toEqual(['/p/a=2', '/p/b=1', '/p/c=4']);
      expect(at(7)).toEqual(['/p/a=6', '/p/b=1', '/p/c=4', '/p/d=7']);
      expect(at(8)).toEqual(['/p/a=6', '/p/c=4', '/p/d=7']);
      expect(at(9)).toEqual(['/p/a=6', '/p/b=9', '/p/c=4', '/p/d=7']);
    });

    it('range in pages at one revision gives what one range gave, whatever is written between', async () => {
      const { revision } = store;
      const whole = keys('/p/', { revision });
      const paged: string[] = [];
      for (let after: string | undefined, more = true; more;) {
        const page = store.range('/p/', { revision, after, limit: 1 });
        paged.push(...page.entries.map(({ key }) => key));
        after = paged.at(-1);
        more = page.more;
        await putAll([`/p/${after}0`, 'new']);
        await store.remove('/p/c', store.get('/p/c')!.revision, text('gone'));
        await putAll(['/p/c', 'again']);
      }
      expect(paged).toEqual(whole);
    });

    it('range throws FutureRevision for a revision that was not reached', () => {
      expect(codeOf(() => store.range('', { revision: 6 }))).toBe('FutureRevision');
    });

    it('range shares the entries of get', () => {
      expect(store.range('/o').entries[0]).toBe(store.get('/o'));
    });
  });

  describe('count', () => {
    it('count follows writes and removals under any prefix, over many keys', async () => {
      const names = Array.from({ length: 1500 }, (_, i) => `/${i % 3}/${String((i * 7919) % 1500).padStart(4, '0')}`);
      await Promise.all(names.map((name) => store.put(name, 0, text(name))));
      expect([store.count(''), store.count('/0/'), store.count('/1/'), store.count('/2/00')]).toEqual([1500, 500, 500, 33]);
      const removed = names.filter((name) => name < '/1/0700');
      await Promise.all(removed.map((name) => store.remove(name, store.get(name)!.revision, text(''))));
      expect([store.count(''), store.count('/0/'), store.count('/1/')]).toEqual([
        1500 - removed.length,
        0,
        store.range('/1/').entries.length,
      ]);
    });
  });

  describe('events', () => {
    beforeEach(async () => {
      await putAll(['/a', '1'], ['/b', '2'], ['/a', '3']);
      await store.remove('/a', 3, text('last'));
    });

    const all = ['1 put /a=1', '2 put /b=2', '3 put /a=3 was 1@1', '4 remove /a=last was 3@3'];

    it.each<[string, number, number | undefined, string[]]>([
      ['all of them from 0 on', 0, undefined, all],
      ['those above a revision', 2, undefined, all.slice(2)],
      ['no more than the limit', 1, 2, all.slice(1, 3)],
      ['none above the newest', 4, undefined, []],
      ['none above a revision that was not reached', 9, undefined, []],
    ])('eventsAfter gives %s', (_what, revision, limit, expected) => {
      expect(store.eventsAfter(revision, limit).map(describeEvent)).toEqual(expected);
    });

    it('eventsAfter and onCommit together miss nothing and repeat nothing', async () => {
      const seen = store.eventsAfter(0).map(({ revision }) => revision);
      store.onCommit((events) => seen.push(...events.map(({ revision }) => revision)));
      await Promise.all(Array.from({ length: 20 }, (_, i) => store.put(`/n${i}`, 0, text('x'))));
      expect(seen).toEqual(Array.from({ length: 24 }, (_, i) => i + 1));
    });
  });

  describe('compact', () => {
    beforeEach(async () => {
      await putAll(['/a', '1'], ['/b', '2'], ['/a', '3']);
      await store.remove('/b', 2, text('last'));
      await putAll(['/a', '5']);
    });

    it('compact forgets what is below the revision and keeps what is at it', () => {
      expect(store.compactedRevision).toBe(0);
      store.compact(4);
      expect(store.compactedRevision).toBe(4);
      expect(codeOf(() => store.eventsAfter(3))).toBe('Compacted');
      expect(codeOf(() => store.range('', { revision: 3 }))).toBe('Compacted');
      expect(store.eventsAfter(4).map(describeEvent)).toEqual(['5 put /a=5 was 3@3']);
      expect(store.range('', { revision: 4 }).entries.map(read)).toEqual(['3']);
      expect(store.range('').entries.map(read)).toEqual(['5']);
    });

    it('compact never goes back and may repeat', () => {
      store.compact(4);
      store.compact(2);
      store.compact(4);
      expect(store.compactedRevision).toBe(4);
    });

    it('compact throws FutureRevision for a revision that was not reached', () => {
      expect(codeOf(() => store.compact(6))).toBe('FutureRevision');
      expect(store.compactedRevision).toBe(0);
    });

    it('compact up to the newest keeps the state and the revisions', async () => {
      store.compact(5);
      expect(store.range('').entries.map(read)).toEqual(['5']);
      expect(store.eventsAfter(5)).toEqual([]);
      expect((await store.put('/b', 0, text('6'))).revision).toBe(6);
      expect(store.eventsAfter(5).map(describeEvent)).toEqual(['6 put /b=6']);
    });
  });

  describe('close', () => {
    it('close waits for pending writes and refuses later ones', async () => {
      const written = store.put('/a', 0, text('1'));
      const closed = store.close();
      expect(codeOf(() => store.put('/b', 0, text('2')))).toBe('Closed');
      expect((await written).revision).toBe(1);
      await closed;
      expect(codeOf(() => store.remove('/a', 1, text('')))).toBe('Closed');
      await store.close();
    });
  });

  describe('reopen', () => {
    it('a reopened store has the state, the revision and the events of the closed one', async (context) => {
      if (!driver.reopen) context.skip();
      await putAll(['/a', '1'], ['/b', '2'], ['/a', '3'], ['/ü', '4']);
      await store.remove('/b', 2, text('last'));
      const events = store.eventsAfter(0).map(describeEvent);
      await store.close();
      store = await driver.reopen!();
      expect(store.range('').entries.map((entry) => [entry.key, read(entry), entry.revision, entry.createdRevision])).toEqual([
        ['/a', '3', 3, 1],
        ['/ü', '4', 4, 4],
      ]);
      expect(store.eventsAfter(0).map(describeEvent)).toEqual(events);
      expect((await store.put('/b', 0, text('6'))).revision).toBe(6);
    });
  });
}
