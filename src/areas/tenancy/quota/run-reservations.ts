import type { Client } from '../../../client/client.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { RunsInFlight } from './runs-in-flight.ts';
import { LAPSE_MS, SharedDecisions } from './shared-decisions.ts';

export const RUN_RESERVATIONS = 'run-reservations-';

/** The places of Runs that were let in but may not be seen by every replica yet, by the uid of the Run. */
export class RunReservations {
  readonly #decisions: SharedDecisions<{ namespace: string; uid: string }, { namespace: string }>;

  constructor(client: Client, clock: Clock, runs: RunsInFlight) {
    this.#decisions = new SharedDecisions(client, clock, {
      prefix: RUN_RESERVATIONS,
      recall(promises, now) {
        for (const [uid, { namespace, at }] of Object.entries(promises)) runs.hold(namespace, uid, at + LAPSE_MS - now);
      },
      judge({ namespace, uid }, promises, now) {
        const refusal = runs.refusal(namespace);
        if (refusal !== undefined) return refusal;
        promises[uid] = { namespace, at: now };
        runs.hold(namespace, uid, LAPSE_MS);
        return () => runs.release(namespace, uid);
      },
    });
  }

  /** @returns why there is no place for the Run; undefined when it has one, which then counts for everybody. */
  reserve(root: string, namespace: string, uid: string): Promise<string | undefined> {
    return this.#decisions.ask(root, { namespace, uid });
  }
}
