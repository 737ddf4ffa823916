import type { Client } from '../../../client/client.ts';
import { ConfigMap } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { RunsInFlight } from './runs-in-flight.ts';

const HOME = 'tenantry-system';
/** By then every replica sees a Run that was made; the place of one that was not is free again. */
const LAPSE_MS = 5000;
/** Every try that loses means that another replica won: more than this many lost ones are no longer competition. */
const TRIES = 50;

/** As it is written, by the uid of the Run: where it is, and when it was let in. */
type Places = Record<string, { namespace: string; at: number }>;

interface Question {
  namespace: string;
  uid: string;
  answer(refusal: string | undefined): void;
  fail(error: unknown): void;
}

/**
 * The places of Runs that were let in but may not be seen by everybody yet, shared by all replicas of admission in one object per tree.
 * A decision is written by compare-and-swap before it is given; those that come meanwhile are decided together with the next write.
 */
export class RunReservations {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #runs: RunsInFlight;
  readonly #waiting = new Map<string, Question[]>();
  /** As this process last saw or wrote it; when another replica has written since, the write fails and it is read again. */
  readonly #stored = new Map<string, KubeObject | undefined>();

  constructor(client: Client, clock: Clock, runs: RunsInFlight) {
    this.#client = client;
    this.#clock = clock;
    this.#runs = runs;
  }

  /** @returns why there is no place for the Run; undefined when it has one, which then counts for everybody. */
  reserve(root: string, namespace: string, uid: string): Promise<string | undefined> {
    return new Promise((answer, fail) => {
      const question = { namespace, uid, answer, fail };
      const waiting = this.#waiting.get(root);
      if (waiting) waiting.push(question);
      else {
        this.#waiting.set(root, [question]);
        void this.#work(root);
      }
    });
  }

  async #work(root: string): Promise<void> {
    for (let batch = this.#waiting.get(root)!; batch.length > 0; batch = this.#waiting.get(root)!) {
      this.#waiting.set(root, []);
      try {
        await this.#decide(root, batch);
      } catch (error) {
        for (const { fail } of batch) fail(error);
      }
    }
    this.#waiting.delete(root);
  }

  async #decide(root: string, batch: readonly Question[]): Promise<void> {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      if (!this.#stored.has(root)) this.#stored.set(root, await this.#read(root));
      const stored = this.#stored.get(root);
      const now = this.#clock.now();
      const places = fresh(stored, now);
      for (const [uid, { namespace, at }] of Object.entries(places)) this.#runs.hold(namespace, uid, at + LAPSE_MS - now);
      const refusals = new Map<Question, string>();
      for (const question of batch) {
        const refusal = this.#runs.refusal(question.namespace);
        if (refusal !== undefined) refusals.set(question, refusal);
        else {
          places[question.uid] = { namespace: question.namespace, at: now };
          this.#runs.hold(question.namespace, question.uid, LAPSE_MS);
        }
      }
      if (refusals.size === batch.length || (await this.#write(root, stored, places))) {
        for (const question of batch) question.answer(refusals.get(question));
        return;
      }
      for (const { namespace, uid } of batch) this.#runs.release(namespace, uid);
      this.#stored.delete(root);
    }
    throw new Error(`Cannot find a place for a Run in "${root}": other replicas of admission kept changing its reservations; try again`);
  }

  async #read(root: string): Promise<KubeObject | undefined> {
    try {
      return await this.#client.resource(ConfigMap, HOME).get(nameFor(root));
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  /** @returns false when another replica was faster */
  async #write(root: string, stored: KubeObject | undefined, places: Places): Promise<boolean> {
    const configMaps = this.#client.resource(ConfigMap, HOME);
    const data = { runs: JSON.stringify(places) };
    try {
      const written = stored
        ? await configMaps.update({ ...stored, data })
        : await configMaps.create({ metadata: { name: nameFor(root) }, data });
      this.#stored.set(root, written);
      return true;
    } catch (error) {
      if (isStatusError(error, 'Conflict') || isStatusError(error, 'AlreadyExists')) return false;
      // Somebody removed it; but without its namespace there is no way on.
      if (stored && isStatusError(error, 'NotFound')) return false;
      throw error;
    }
  }
}

function nameFor(root: string): string {
  return `runs-in-flight.${root}`;
}

function fresh(stored: KubeObject | undefined, now: number): Places {
  const all = JSON.parse(stored?.data?.runs ?? '{}') as Places;
  return Object.fromEntries(Object.entries(all).filter(([, { at }]) => now - at < LAPSE_MS && at <= now + LAPSE_MS));
}
