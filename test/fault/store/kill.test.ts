import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/engine/store/durable-store.ts';

const ROUNDS = Number(process.env.TENANTRY_FAULT_ROUNDS ?? 5);
const WRITERS = 8;

/** What the writer processes were told, over all rounds. */
interface Acknowledged {
  counters: Map<number, number>;
  revision: number;
  openedAt: number;
}

describe('kill -9', () => {
  let directory: string;
  let program: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tenantry-kill-'));
    program = join(directory, 'writer.mjs');
    const entry = join(import.meta.dirname, 'kill-writer.ts');
    await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile: program, logLevel: 'error' });
  });

  afterAll(() => rm(directory, { recursive: true, force: true }));

  it(
    `a writer killed at a random moment, ${ROUNDS} times on one store, never loses an acknowledged write, and revisions continue`,
    async () => {
      const data = join(directory, 'data');
      const known: Acknowledged = { counters: new Map(), revision: 0, openedAt: 0 };
      for (let round = 0; round < ROUNDS; round++) {
        const before = known.revision;
        // Every fourth one already while it starts, which takes about as long.
        const opened = await runAndKill(program, data, known, Math.random() * 150, round % 4 !== 3);
        if (opened) expect(known.openedAt).toBeGreaterThanOrEqual(before);
        await assertAllThere(data, known);
      }
      expect(known.revision).toBeGreaterThan(ROUNDS);
      expect((await readdir(data)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    },
    60_000 + ROUNDS * 3000,
  );
});

/** @returns whether it got as far as opening the store. */
async function runAndKill(
  program: string,
  data: string,
  known: Acknowledged,
  afterMilliseconds: number,
  waitForOpen: boolean,
): Promise<boolean> {
  const child = spawn(process.execPath, [program, data, String(WRITERS)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  let opened = false;
  const started = collectReports(child, known).then(() => (opened = true));
  if (waitForOpen) await Promise.race([started, ended]);
  setTimeout(() => child.kill('SIGKILL'), afterMilliseconds);
  const [code, signal] = (await ended) as [number | null, string | null];
  expect([code, signal]).toEqual([null, 'SIGKILL']);
  return opened;
}

/** Resolves when the writer has opened the store; goes on collecting until its output ends. */
function collectReports(child: ChildProcess, known: Acknowledged): Promise<void> {
  return new Promise((resolve) => {
    let rest = '';
    child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        const [kind, ...numbers] = line.split(' ');
        const [first, counter, revision] = numbers.map(Number);
        if (kind === 'open') {
          known.openedAt = first;
          resolve();
          continue;
        }
        known.counters.set(first, counter);
        known.revision = Math.max(known.revision, revision);
      }
    });
  });
}

async function assertAllThere(data: string, known: Acknowledged): Promise<void> {
  const store = await openStore(data);
  expect(store.revision).toBeGreaterThanOrEqual(known.revision);
  for (const { key, bytes } of store.range('/writers/').entries) {
    const writer = Number(key.slice('/writers/'.length));
    const counter = known.counters.get(writer) ?? 0;
    const found = Number(Buffer.from(bytes).toString().split(' ')[0]);
    // A write may be there without its answer, which was killed on the way: the next one, and only that one.
    expect([counter, counter + 1]).toContain(found);
    known.counters.set(writer, found);
  }
  expect(store.count('/writers/')).toBe(known.counters.size);
  const events = store.eventsAfter(store.compactedRevision);
  expect(events.map(({ revision }) => revision)).toEqual(events.map((_, index) => store.compactedRevision + 1 + index));
  known.revision = store.revision;
  await store.close();
}
