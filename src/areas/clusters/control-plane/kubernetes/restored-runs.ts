import { json } from 'node:stream/consumers';
import { RunKind, type Run } from '../../../../api/kruntimes.io/v1alpha1/run.ts';
import { sleep } from '../../../../lib/abort.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { isUnfinishedCopy } from '../../placement/model/unfinished-copy.ts';
import type { RunningProgram } from './program-keeper.ts';

export interface RestoredRunsPorts {
  startEtcd(): RunningProgram;
  /** A call of etcd's API. */
  ask(path: string, body: object): Promise<NodeJS.ReadableStream>;
  clock: Clock;
}

interface RangeAnswer {
  kvs?: { key: string; value: string }[];
  more?: boolean;
}

const PREFIX = `/registry/${RunKind.group}/${RunKind.plural}/`;
/** The first key behind all that begin with the prefix. */
const END = `${PREFIX.slice(0, -1)}0`;
/** An object may have more than a megabyte. */
const PAGE = 20;
const START_MS = 60_000;
const LOOK_EVERY_MS = 50;

/** Takes out of a restored store, before an API server has it, what must not be executed again. @returns how many */
export async function removeRestoredRuns({ startEtcd, ask, clock }: RestoredRunsPorts): Promise<number> {
  const etcd = startEtcd();
  const ended = etcd.ended.then((words) => {
    throw new Error(`Cannot look through the restored store: etcd ended: ${words}`);
  });
  ended.catch(() => {});
  const call = async (path: string, body: object) => json(await ask(path, body)) as Promise<RangeAnswer>;
  try {
    await Promise.race([untilAnswered(() => call('/v3/kv/range', { key: base64(PREFIX) }), clock), ended]);
    return await Promise.race([removeAll(call), ended]);
  } finally {
    etcd.signal('SIGTERM');
    await etcd.ended;
  }
}

async function removeAll(call: (path: string, body: object) => Promise<RangeAnswer>): Promise<number> {
  let removed = 0;
  let key = base64(PREFIX);
  for (;;) {
    const { kvs = [], more } = await call('/v3/kv/range', { key, range_end: base64(END), limit: String(PAGE) });
    for (const each of kvs) {
      if (!isUnfinishedCopy(JSON.parse(Buffer.from(each.value, 'base64').toString('utf8')) as Run)) continue;
      await call('/v3/kv/deleterange', { key: each.key });
      removed++;
    }
    if (more !== true || kvs.length === 0) return removed;
    key = Buffer.concat([Buffer.from(kvs.at(-1)!.key, 'base64'), Buffer.alloc(1)]).toString('base64');
  }
}

async function untilAnswered(call: () => Promise<unknown>, clock: Clock): Promise<void> {
  const deadline = clock.monotonic() + START_MS;
  for (;;) {
    try {
      await call();
      return;
    } catch (error) {
      if (clock.monotonic() > deadline) throw new Error('Cannot look through the restored store: etcd does not answer', { cause: error });
      await sleep(clock, LOOK_EVERY_MS);
    }
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
