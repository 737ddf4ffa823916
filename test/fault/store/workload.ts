import { type DurableStore, openStore, type OpenStoreOptions } from '../../../src/engine/store/durable-store.ts';
import { StoreError } from '../../../src/engine/store/store.ts';
import type { SimulatedDisk } from './simulated-disk.ts';

export const DIRECTORY = '/data';

/** One step of a client: a group of writes in one turn, then perhaps a wait for all of them. */
export interface Step {
  writes: { key: string; size: number; remove?: boolean }[];
  wait: boolean;
}

export type State = ReadonlyMap<string, string>;

/** What a client knows when the power goes. */
export interface Knowledge {
  acknowledged: State;
  revision: number;
  /** By revision, the states that writes without an answer lead to if they got to the disk. */
  unanswered: ReadonlyMap<number, State>;
  /** The same for groups of writes that were refused since the last acknowledgement. */
  refused: readonly ReadonlyMap<number, State>[];
}

let incarnation = 0;

/** Opens the store on a disk as a process that finds all earlier ones dead. */
export function openOn(disk: SimulatedDisk, options: OpenStoreOptions = {}): Promise<DurableStore> {
  const self = { pid: 1, startTime: String(++incarnation), hostname: 'simulated' };
  return openStore(DIRECTORY, {
    fileSystem: disk,
    processes: { self, isAlive: () => false },
    now: () => 0,
    monotonicNow: () => 0,
    snapshotAfterBytes: 4096,
    ...options,
  });
}

export function stateOf(store: DurableStore): State {
  return new Map(store.range('').entries.map((entry) => [entry.key, Buffer.from(entry.bytes).toString('latin1')]));
}

/** Runs steps against a store and keeps track of what must, and what may, be there afterwards. */
export class Client {
  readonly #store: DurableStore;
  #acknowledged: State;
  #revision: number;
  #unanswered: Map<number, State> = new Map();
  #refused: Map<number, State>[] = [];
  refusals: StoreError[] = [];

  constructor(store: DurableStore) {
    this.#store = store;
    this.#acknowledged = stateOf(store);
    this.#revision = store.revision;
  }

  get knowledge(): Knowledge {
    return { acknowledged: this.#acknowledged, revision: this.#revision, unanswered: this.#unanswered, refused: this.#refused };
  }

  async run(steps: readonly Step[], isOver: () => boolean = () => false): Promise<void> {
    for (const { writes, wait } of steps) {
      if (isOver()) return;
      const answers = writes.map((write) => this.#write(write));
      const settled = Promise.all(answers);
      if (wait) await unlessOver(settled, isOver);
      else await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #write({ key, size, remove }: Step['writes'][number]): Promise<void> {
    const latest = this.#store.latest(key);
    const revision = (this.#unanswered.size > 0 ? Math.max(...this.#unanswered.keys()) : this.#revision) + 1;
    const state = new Map(this.#unanswered.get(revision - 1) ?? this.#acknowledged);
    const value = `${revision}:`.padEnd(size, `${key}${revision}`);
    if (remove && !latest) return Promise.resolve();
    const encode = (given: number) => {
      if (given !== revision) throw new Error(`revision ${given} was given and ${revision} is next`);
      return { bytes: Buffer.from(value, 'latin1') };
    };
    const answer = remove ? this.#store.remove(key, latest!.revision, encode) : this.#store.put(key, latest?.revision ?? 0, encode);
    if (remove) state.delete(key);
    else state.set(key, value);
    this.#unanswered.set(revision, state);
    return answer.then(
      (entry) => {
        if (entry.revision !== revision) throw new Error(`revision ${entry.revision} was acknowledged for ${revision}`);
        this.#acknowledged = state;
        this.#revision = revision;
        this.#unanswered.delete(revision);
        this.#refused = [];
      },
      (error: unknown) => {
        if (!(error instanceof StoreError)) throw error;
        this.refusals.push(error);
        if (this.#unanswered.size > 0) this.#refused.push(this.#unanswered);
        this.#unanswered = new Map();
      },
    );
  }
}

/** What `promise` gives; undefined if that is not known when `isOver` says that nothing will come any more. */
export async function unlessOver<T>(promise: Promise<T>, isOver: () => boolean): Promise<T | undefined> {
  const outcome = { settled: false };
  const settle = () => {
    outcome.settled = true;
  };
  promise.then(settle, settle);
  while (!outcome.settled && !isOver()) await new Promise((resolve) => setImmediate(resolve));
  return outcome.settled ? promise : undefined;
}
