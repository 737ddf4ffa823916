import type { Client } from '../../../client/client.ts';
import { ConfigMap } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Clock } from '../../../lib/clock.ts';

const HOME = 'tenantry-system';
/** Trees share a few objects for each purpose. */
const SHARDS = 16;
/** By then the store shows what was written; what was not has lapsed. */
export const LAPSE_MS = 5000;
/** Every try that loses means that another replica won: more than this many lost ones are no longer competition. */
const TRIES = 50;

/** What was promised and when, by whatever it was promised to. */
export type Promises<P> = Record<string, P & { at: number }>;

export interface Judge<Question, P> {
  /** Of the objects in which the decisions are kept. */
  prefix: string;
  /** Makes what any replica promised count here. */
  recall(promises: Promises<P>, now: number): void;
  /** Adds what it promises to `promises`. @returns the refusal, or the way to take the promise back */
  judge(question: Question, promises: Promises<P>, now: number): string | (() => void);
}

interface Waiting<Question> {
  question: Question;
  settle(refusal: string | undefined): void;
  fail(error: unknown): void;
}

/** Those who wait for decisions about one tree, and the object as this process last saw it. */
interface Desk<Question> {
  waiting: Waiting<Question>[];
  isBusy: boolean;
  stored: KubeObject | undefined;
}

/**
 * What was promised but is not yet seen in the store, shared by all replicas of admission: decisions are written by compare-and-swap
 * before they are given, so that no two replicas give the same room away. Decisions that wait share one write.
 */
export class SharedDecisions<Question, P> {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #judge: Judge<Question, P>;
  readonly #desks = new Map<string, Desk<Question>>();

  constructor(client: Client, clock: Clock, judge: Judge<Question, P>) {
    this.#client = client;
    this.#clock = clock;
    this.#judge = judge;
  }

  /** @returns why not; undefined when it is promised, which then counts for everybody. */
  ask(root: string, question: Question): Promise<string | undefined> {
    let desk = this.#desks.get(root);
    if (!desk) this.#desks.set(root, (desk = { waiting: [], isBusy: false, stored: undefined }));
    const own = desk;
    return new Promise((settle, fail) => {
      own.waiting.push({ question, settle, fail });
      if (!own.isBusy) void this.#work(root, own);
    });
  }

  async #work(root: string, desk: Desk<Question>): Promise<void> {
    desk.isBusy = true;
    while (desk.waiting.length > 0) {
      const batch = desk.waiting.splice(0);
      try {
        const refusals = await this.#decide(
          root,
          desk,
          batch.map(({ question }) => question),
        );
        for (const [index, { settle }] of batch.entries()) settle(refusals[index]);
      } catch (error) {
        desk.stored = undefined;
        for (const { fail } of batch) fail(error);
      }
    }
    desk.isBusy = false;
  }

  async #decide(root: string, desk: Desk<Question>, questions: readonly Question[]): Promise<(string | undefined)[]> {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      // What this process wrote last is most likely still what is there; if not, the write says so.
      desk.stored ??= await this.#client.resource(ConfigMap, HOME).get(nameFor(this.#judge.prefix, root));
      const now = this.#clock.now();
      const promises = fresh<P>(desk.stored, now);
      this.#judge.recall(promises, now);
      const undo: (() => void)[] = [];
      const refusals = questions.map((question) => {
        const verdict = this.#judge.judge(question, promises, now);
        if (typeof verdict === 'string') return verdict;
        undo.push(verdict);
        return undefined;
      });
      if (undo.length === 0) return refusals;
      const written = await this.#write(desk.stored, promises);
      desk.stored = written;
      if (written) return refusals;
      for (const each of undo.reverse()) each();
    }
    throw new Error(`Cannot reserve quota in "${root}": other replicas of admission kept changing its reservations; try again`);
  }

  /** @returns undefined when another replica was faster */
  async #write(stored: KubeObject, promises: Promises<P>): Promise<KubeObject | undefined> {
    const data = { reservations: JSON.stringify(promises) };
    try {
      return await this.#client.resource(ConfigMap, HOME).update({ ...stored, data });
    } catch (error) {
      if (isStatusError(error, 'Conflict')) return undefined;
      throw error;
    }
  }
}

/**
 * Makes the objects that decisions are written to. Not when they are first needed: an API server that waits for a decision about
 * quota has no hands free to admit the creation of an object.
 */
export async function ensureSharedObjects(client: Client, prefix: string): Promise<void> {
  const configMaps = client.resource(ConfigMap, HOME);
  await Promise.all(
    Array.from({ length: SHARDS }, async (_, shard) => {
      try {
        await configMaps.create({ metadata: { name: `${prefix}${shard}` }, data: {} });
      } catch (error) {
        if (!isStatusError(error, 'AlreadyExists')) throw error;
      }
    }),
  );
}

function nameFor(prefix: string, root: string): string {
  let hash = 7;
  for (let index = 0; index < root.length; index++) hash = (hash * 31 + root.charCodeAt(index)) >>> 0;
  return `${prefix}${hash % SHARDS}`;
}

function fresh<P>(stored: KubeObject | undefined, now: number): Promises<P> {
  const all = JSON.parse(stored?.data?.reservations ?? '{}') as Promises<P>;
  return Object.fromEntries(Object.entries(all).filter(([, { at }]) => now - at < LAPSE_MS && at <= now + LAPSE_MS));
}
