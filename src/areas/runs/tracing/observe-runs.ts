import { RunKind } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { isTerminal, phaseOf, UNFINISHED } from '../../../api/kruntimes.io/v1alpha1/run-state.ts';
import type { Client } from '../../../client/client.ts';
import { isStatusError } from '../../../kube/status.ts';
import { parseTime } from '../../../kube/time.ts';
import { sleep } from '../../../lib/abort.ts';
import { Backoff } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { RunTimelines } from './run-timelines.ts';

export interface ObserverOptions {
  client: Client;
  timelines: RunTimelines;
  clock: Clock;
  log: Log;
}

const AGAIN = { initialMs: 500, maxMs: 30_000 };

/**
 * Watches all Runs until the signal fires, and lists those that have not ended. Not an informer: it would keep every Run that ever ended,
 * and one of the unfinished alone does not tell how they ended.
 */
export async function observeRuns(options: ObserverOptions, signal: AbortSignal): Promise<void> {
  const backoff = new Backoff(AGAIN);
  while (!signal.aborted) {
    try {
      await observe(options, signal, () => backoff.reset());
    } catch (error) {
      if (!signal.aborted) options.log.warn('cannot watch Runs for their traces, will try again', { error });
    }
    await sleep(options.clock, backoff.next(), signal).catch(() => {});
  }
}

async function observe({ client, timelines, clock }: ObserverOptions, signal: AbortSignal, isWell: () => void): Promise<void> {
  const runs = client.resource(RunKind);
  const { items, metadata } = await runs.listAll({ fieldSelector: UNFINISHED, signal });
  const there = new Set(items.map((run) => run.metadata.uid));
  for (const known of timelines.unfinished()) if (!there.has(known.uid)) await catchUp(client, timelines, known, clock, signal);
  for (const run of items) timelines.changed(run, clock.now(), true);
  for await (const update of runs.watch({ resourceVersion: metadata.resourceVersion, signal })) {
    isWell();
    if (!('object' in update)) continue;
    if (update.type === 'DELETED') timelines.removed(update.object, clock.now());
    else timelines.changed(update.object, clock.now());
  }
}

/** With a Run that ended while nobody looked. */
async function catchUp(
  client: Client,
  timelines: RunTimelines,
  { uid, namespace, name }: { uid: string; namespace: string; name: string },
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  try {
    const run = await client.resource(RunKind, namespace).get(name, { signal });
    if (run.metadata.uid === uid && isTerminal(phaseOf(run))) {
      return timelines.changed(run, parseTime(run.status?.completionTime ?? '') ?? clock.now());
    }
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
  timelines.forget(uid);
}
