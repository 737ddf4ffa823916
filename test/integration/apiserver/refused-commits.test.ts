import { describe, expect, it } from 'vitest';
import type { AdmissionRequest } from '../../../src/engine/apiserver/admission/admission.ts';
import type { Journal } from '../../../src/engine/store/journal.ts';
import { StagedStore } from '../../../src/engine/store/staged-store.ts';
import { StoreError } from '../../../src/engine/store/store.ts';
import { DEFAULT_HISTORY_LIMIT, DurableView } from '../../../src/engine/store/versions/durable-view.ts';
import { createMemoryStore } from '../../../src/engine/store/memory-store.ts';
import { startServerInMemory } from './server-in-memory.ts';

const PATH = '/api/v1/namespaces/default/configmaps';
const MERGE = 'application/merge-patch+json';

/** Commits at once, or, while it is held, when the test says how they end. */
class HeldJournal implements Journal {
  held = false;
  #end: ((error?: StoreError) => void) | undefined;

  prepare(_key: string, bytes: Uint8Array): Uint8Array {
    return bytes;
  }

  commit(): Promise<void> {
    if (!this.held) return new Promise((resolve) => setImmediate(resolve));
    return new Promise((resolve, reject) => {
      this.#end = (error) => (error ? reject(error) : resolve());
    });
  }

  fail(): void {
    this.held = false;
    this.#end!(new StoreError('DiskFull', 'full'));
  }

  succeed(): void {
    this.held = false;
    this.#end!();
  }

  async close(): Promise<void> {}
}

const turns = async () => {
  for (let i = 0; i < 10; i++) await new Promise(setImmediate);
};

async function setUp(mutate?: (request: AdmissionRequest) => Promise<void> | void) {
  const journal = new HeldJournal();
  const store = new StagedStore(new DurableView(DEFAULT_HISTORY_LIMIT), journal);
  const server = await startServerInMemory({ store, around: { mutate } });
  await server.call('POST', PATH, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: {} });
  const patch = (data: object, manager = 'test') => server.call('PATCH', `${PATH}/a?fieldManager=${manager}`, { data }, MERGE);
  return { journal, server, patch };
}

describe('a commit that is refused', () => {
  it('its states, never come back, although their revisions are given again', async () => {
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    const { journal, server, patch } = await setUp((request) => (request.options.fieldManager === 'slow' ? released : undefined));
    journal.held = true;
    const refused = patch({ refused: '1' });
    await turns();
    const slow = patch({ slow: '1' }, 'slow');
    await turns();
    journal.fail();
    expect((await refused).status).toBe(503);
    expect((await patch({ later: '1' })).status).toBe(200);
    release();
    expect((await slow).status).toBe(200);
    expect((await server.call('GET', `${PATH}/a`)).body.data).toEqual({ later: '1', slow: '1' });
    server.close();
  });

  it('a write that would repeat it, is refused with it', async () => {
    const { journal, server, patch } = await setUp();
    journal.held = true;
    const first = patch({ same: '1' });
    await turns();
    const second = patch({ same: '1' });
    await turns();
    journal.fail();
    expect((await first).status).toBe(503);
    expect((await second).status).toBe(503);
    expect((await server.call('GET', `${PATH}/a`)).body.data ?? {}).toEqual({});
    server.close();
  });

  it('a write that repeats one that waits, is acknowledged, when that one is durable', async () => {
    const { journal, server, patch } = await setUp();
    journal.held = true;
    const first = patch({ same: '1' });
    await turns();
    journal.held = false;
    const second = patch({ same: '1' });
    await turns();
    let done = false;
    void second.then(() => (done = true));
    await turns();
    expect(done).toBe(false);
    journal.succeed();
    expect((await first).body.metadata.resourceVersion).toBe((await second).body.metadata.resourceVersion);
    server.close();
  });
});

describe('a store that has reached its limit', () => {
  it('refuses what grows with a status that says what to do, and goes on with reads, deletions and what fits again', async () => {
    const server = await startServerInMemory({ store: createMemoryStore({ maxLiveBytes: 256 * 1024 }) });
    const make = (name: string) =>
      server.call('POST', PATH, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { text: 'x'.repeat(60_000) } });
    const answers = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(make));
    const refused = answers.filter(({ status }) => status !== 201);
    expect([refused.length > 0, refused.length < 6]).toEqual([true, true]);
    expect(refused[0]).toMatchObject({ status: 503, body: { kind: 'Status', reason: 'ServiceUnavailable' } });
    expect(refused[0].body.message).toMatch(/^Cannot store configmaps "\w": the store has reached its limit; delete what is not needed/);
    const { name } = answers.find(({ status }) => status === 201)!.body.metadata;
    expect((await server.call('GET', `${PATH}/${name}`)).status).toBe(200);
    expect((await server.call('PATCH', `${PATH}/${name}`, { metadata: { finalizers: ['example.com/wait'] } }, MERGE)).status).toBe(200);
    expect((await server.call('PATCH', `${PATH}/${name}`, { metadata: { finalizers: [] } }, MERGE)).status).toBe(200);
    expect((await server.call('DELETE', `${PATH}/${name}`)).status).toBe(200);
    expect((await make('g')).status).toBe(201);
    server.close();
  });
});
