import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { Json } from '../../../src/kube/object.ts';
import type { ApiTarget } from '../../support/api-target.ts';
import { spawnEngine } from '../../support/spawned-engine.ts';

/** Promise: an acknowledged write survives kill -9; revisions never go back; a watch misses nothing and repeats nothing. */
const ROUNDS = Number(process.env.TENANTRY_FAULT_ROUNDS ?? 4);
const WRITERS = 8;
const PATH = '/api/v1/namespaces/default/configmaps';

interface Ledger {
  /** Name → the newest acknowledged revision and value. */
  acknowledged: Map<string, { revision: number; value: string }>;
  /** Every acknowledged revision. */
  revisions: Set<number>;
  /** Revisions that the watch told, in order. */
  watched: number[];
  cursor: string;
}

const data = mkdtempSync(join(tmpdir(), 'tenantry-kill-'));
afterAll(() => rmSync(data, { recursive: true, force: true }));

async function writeUntilDead(target: ApiTarget, writer: number, round: number, ledger: Ledger): Promise<void> {
  for (let i = 0; ; i++) {
    const name = `w${writer}-${i % 20}`;
    const value = `${round}-${i}`;
    const exists = ledger.acknowledged.has(name);
    const sending = exists
      ? target.request('PATCH', `${PATH}/${name}`, { data: { value } }, { contentType: 'application/merge-patch+json' })
      : target.request('POST', PATH, { metadata: { name }, data: { value } });
    const answer = await sending.catch(() => undefined);
    if (answer === undefined) return;
    const { status, body } = answer;
    // A create whose answer was lost may have been carried out.
    if (status === 409) {
      ledger.acknowledged.set(name, { revision: 0, value: '' });
      continue;
    }
    expect([200, 201]).toContain(status);
    const revision = Number(body.metadata.resourceVersion);
    ledger.acknowledged.set(name, { revision, value });
    ledger.revisions.add(revision);
  }
}

async function followUntilDead(target: ApiTarget, ledger: Ledger): Promise<void> {
  const stream = await target.watch(`${PATH}?watch=1&resourceVersion=${ledger.cursor}`).catch(() => undefined);
  if (stream === undefined) return;
  for (let event = await stream.next(); event !== undefined; event = await stream.next()) note(ledger, event);
}

function note(ledger: Ledger, event: Json): void {
  expect(event.type).not.toBe('ERROR');
  ledger.cursor = event.object.metadata.resourceVersion;
  if (event.object.metadata.name.startsWith('w')) ledger.watched.push(Number(ledger.cursor));
}

async function checkState(target: ApiTarget, ledger: Ledger): Promise<void> {
  const { body } = await target.request('GET', PATH);
  const stored = new Map<string, Json>(body.items.map((item: Json) => [item.metadata.name, item]));
  const newest = Math.max(0, ...ledger.revisions);
  expect(Number(body.metadata.resourceVersion)).toBeGreaterThanOrEqual(newest);
  for (const [name, { revision, value }] of ledger.acknowledged) {
    if (revision === 0) continue;
    const object = stored.get(name);
    expect(object, `${name} was acknowledged at ${revision}`).toBeDefined();
    const at = Number(object.metadata.resourceVersion);
    expect(at).toBeGreaterThanOrEqual(revision);
    if (at === revision) expect(object.data.value).toBe(value);
  }
}

it(
  `${ROUNDS} kill -9 under load lose no acknowledged write and leave no gap in a watch`,
  async () => {
    const ledger: Ledger = { acknowledged: new Map(), revisions: new Set(), watched: [], cursor: '' };
    for (let round = 0; round < ROUNDS; round++) {
      const engine = await spawnEngine(data);
      await checkState(engine.target, ledger);
      if (ledger.cursor === '') ledger.cursor = (await engine.target.request('GET', `${PATH}?limit=1`)).body.metadata.resourceVersion;
      const work = Array.from({ length: WRITERS }, (_, writer) => writeUntilDead(engine.target, writer, round, ledger));
      const following = followUntilDead(engine.target, ledger);
      await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 400));
      await engine.kill();
      await Promise.all([...work, following]);
    }
    const engine = await spawnEngine(data);
    await checkState(engine.target, ledger);
    const target = (await engine.target.request('GET', PATH)).body.metadata.resourceVersion;
    const stream = await engine.target.watch(`${PATH}?watch=1&resourceVersion=${ledger.cursor}`);
    while (Number(ledger.cursor) < Number(target)) {
      const event = await stream.next(2000);
      if (event === undefined) break;
      note(ledger, event);
    }
    await engine.stop();
    expect(new Set(ledger.watched).size).toBe(ledger.watched.length);
    expect(ledger.watched).toEqual([...ledger.watched].sort((a, b) => a - b));
    const told = new Set(ledger.watched);
    expect([...ledger.revisions].filter((revision) => !told.has(revision))).toEqual([]);
    expect(ledger.revisions.size).toBeGreaterThan(ROUNDS);
  },
  ROUNDS * 20_000,
);
