import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../store/memory-store.ts';
import type { Store } from '../../store/store.ts';
import { wholePresenter } from '../encoding/presenter.ts';
import { ObjectCache } from '../registry/object-cache.ts';
import type { Resource } from '../registry/resource.ts';
import type { ObjectFilter } from './filter.ts';
import { lineRenderer } from './frames.ts';
import { WatchHub } from './hub.ts';

const resource = { group: '', version: 'v1', kind: 'ConfigMap', listKind: 'ConfigMapList', resource: 'configmaps' } as Resource;
const cache = new ObjectCache(1 << 20);

function object(name: string, labels: Record<string, string>, revision: number) {
  return {
    bytes: Buffer.from(
      JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels, resourceVersion: String(revision) } }),
    ),
  };
}

async function write(store: Store, name: string, labels: Record<string, string> = {}, namespace = 'a'): Promise<number> {
  const key = `core/configmaps/${namespace}/${name}`;
  return (await store.put(key, store.latest(key)?.revision ?? 0, (revision) => object(name, labels, revision))).revision;
}

class Receiver {
  lines: { type: string; object: { metadata: { name: string; resourceVersion: string }; code?: number } }[] = [];
  full = false;
  ended = false;
  #drained: (() => void) | undefined;

  write(chunk: unknown): boolean {
    for (const line of Buffer.from(chunk as Uint8Array)
      .toString()
      .trim()
      .split('\n'))
      this.lines.push(JSON.parse(line));
    return !this.full;
  }

  drained(callback: () => void): void {
    this.#drained = callback;
  }

  drain(): void {
    this.full = false;
    const drained = this.#drained;
    this.#drained = undefined;
    drained?.();
  }

  end(): void {
    this.ended = true;
  }

  get names(): string[] {
    return this.lines.map((line) => `${line.type} ${line.object.metadata.name}`);
  }
}

const settle = async () => {
  for (let i = 0; i < 20; i++) await new Promise(setImmediate);
};

function watch(hub: WatchHub, filter: Partial<ObjectFilter>, after: number): Receiver {
  const receiver = new Receiver();
  hub.watch({
    filter: { keyPrefix: 'core/configmaps/', exact: false, identity: filter.identity ?? '', ...filter },
    representation: 'v1',
    renderer: lineRenderer(wholePresenter(resource, cache)),
    after,
    bookmarks: false,
    write: (chunk) => receiver.write(chunk),
    drained: (callback) => receiver.drained(callback),
    end: () => receiver.end(),
  });
  return receiver;
}

describe('WatchHub', () => {
  it('tells a crowd over several turns, in order, and those that join meanwhile nothing twice', async () => {
    const store = createMemoryStore();
    const hub = new WatchHub(store);
    const crowd = Array.from({ length: 100 }, () => watch(hub, {}, 0));
    for (const receiver of crowd) {
      const { write: take } = receiver;
      receiver.write = (chunk) => {
        const until = performance.now() + 0.2;
        while (performance.now() < until);
        return take.call(receiver, chunk);
      };
    }
    await settle();
    const first = await write(store, 'one');
    expect(crowd.filter(({ lines }) => lines.length > 0).length).toBeLessThan(100);
    const late = watch(hub, {}, first);
    await write(store, 'two');
    await expect.poll(() => crowd.every(({ names }) => names.join() === 'ADDED one,ADDED two')).toBe(true);
    expect(late.names).toEqual(['ADDED two']);
    hub.close();
  });

  it('delivers what happened after the given revision, once and in order, to watchers that start late', async () => {
    const store = createMemoryStore();
    const hub = new WatchHub(store);
    await write(store, 'one');
    const from = await write(store, 'two');
    await write(store, 'three');
    const receiver = watch(hub, {}, from);
    await write(store, 'four');
    await settle();
    expect(receiver.names).toEqual(['ADDED three', 'ADDED four']);
    await write(store, 'three');
    await settle();
    expect(receiver.names).toEqual(['ADDED three', 'ADDED four', 'MODIFIED three']);
    hub.close();
  });

  it('delivers to a namespace only its own events', async () => {
    const store = createMemoryStore();
    const hub = new WatchHub(store);
    const receiver = watch(hub, { keyPrefix: 'core/configmaps/b/' }, store.revision);
    await settle();
    await write(store, 'one', {}, 'a');
    await write(store, 'two', {}, 'b');
    await settle();
    expect(receiver.names).toEqual(['ADDED two']);
    hub.close();
  });

  it('tells DELETED with the last matching state when an object leaves the selection', async () => {
    const store = createMemoryStore();
    const hub = new WatchHub(store);
    const receiver = watch(hub, { identity: 'app=x', matches: (entry) => cache.known(entry).labels?.app === 'x' }, store.revision);
    await settle();
    await write(store, 'one', { app: 'x' });
    const left = await write(store, 'one', { app: 'y' });
    await write(store, 'one', { app: 'x' });
    await settle();
    expect(receiver.names).toEqual(['ADDED one', 'DELETED one', 'ADDED one']);
    expect(receiver.lines[1].object.metadata.resourceVersion).toBe(String(left));
    hub.close();
  });

  it('holds nothing for a slow watcher and goes on without gap or repeat when it has drained', async () => {
    const store = createMemoryStore();
    const hub = new WatchHub(store);
    const receiver = watch(hub, {}, store.revision);
    await settle();
    receiver.full = true;
    for (let i = 0; i < 50; i++) await write(store, `n${i}`);
    await settle();
    expect(receiver.lines.length).toBe(1);
    receiver.drain();
    await settle();
    expect(receiver.names).toEqual(Array.from({ length: 50 }, (_, i) => `ADDED n${i}`));
    hub.close();
  });

  it('tells a crowd everything once and in order, whoever joins in the middle of a rush', async () => {
    const store = createMemoryStore();
    const hub = new WatchHub(store);
    const early = Array.from({ length: 20 }, () => watch(hub, {}, store.revision));
    await settle();
    const late: Receiver[] = [];
    for (let i = 0; i < 40; i++) {
      const revision = await write(store, `n${i}`);
      if (i % 10 === 5) late.push(watch(hub, {}, revision));
      await new Promise(setImmediate);
    }
    await expect.poll(() => [...early, ...late].every((receiver) => receiver.names.at(-1) === 'ADDED n39')).toBe(true);
    const all = Array.from({ length: 40 }, (_, i) => `ADDED n${i}`);
    for (const receiver of early) expect(receiver.names).toEqual(all);
    late.forEach((receiver, i) => expect(receiver.names).toEqual(all.slice(i * 10 + 6)));
    hub.close();
  });

  it('forgets a watcher that asked for a history that is gone', async () => {
    const store = createMemoryStore();
    const hub = new WatchHub(store);
    for (let i = 0; i < 10; i++) await write(store, `n${i}`);
    store.compact(store.revision);
    const receiver = watch(hub, {}, 1);
    await settle();
    expect(receiver.lines).toMatchObject([{ type: 'ERROR', object: { code: 410 } }]);
    expect(hub.size).toBe(0);
    hub.close();
  });

  it('cuts watchers of a resource that are behind together with the others', async () => {
    const store = createMemoryStore();
    const hub = new WatchHub(store);
    const behind = watch(hub, {}, store.revision);
    const other = watch(hub, { keyPrefix: 'core/secrets/' }, store.revision);
    await settle();
    behind.full = true;
    await write(store, 'one');
    hub.cutPrefix('core/configmaps/');
    expect(behind.ended).toBe(true);
    expect(other.ended).toBe(false);
    hub.close();
  });

  it('cuts a watcher with Expired when the history has moved past it', async () => {
    const store = createMemoryStore();
    const hub = new WatchHub(store);
    const receiver = watch(hub, {}, store.revision);
    await settle();
    receiver.full = true;
    for (let i = 0; i < 10; i++) await write(store, `n${i}`);
    store.compact(store.revision - 1);
    receiver.drain();
    await settle();
    expect(receiver.lines.at(-1)).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    expect(receiver.ended).toBe(true);
    expect(hub.size).toBe(0);
    hub.close();
  });
});
