import { CoreEvent } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { longLivedController, sleep } from '../../../lib/abort.ts';
import type { Environment, Running } from '../environment.ts';

export const EVENT_TTL_MS = 60 * 60_000;
/** How late an event may go. */
const SWEEP_EVERY_MS = 5 * 60_000;

/**
 * Events live for an hour after they were last written. The store has no leases, and a watch would keep every event in memory only to know
 * its age: a sweep in pages, by timer, costs nothing between.
 */
export function eventTtlController({ client, clock, log }: Environment): Running {
  const stop = longLivedController();
  const running = (async () => {
    while (!stop.signal.aborted) {
      await sleep(clock, SWEEP_EVERY_MS, stop.signal).catch(() => {});
      if (stop.signal.aborted) return;
      try {
        for await (const event of client.resource(CoreEvent).items({ signal: stop.signal })) {
          if (clock.now() - lastWritten(event) < EVENT_TTL_MS) continue;
          const { namespace, name, uid } = event.metadata;
          await client.resource(CoreEvent, namespace).delete(name!, { preconditions: { uid }, signal: stop.signal }).catch(ignoreGone);
        }
      } catch (error) {
        if (!stop.signal.aborted) log.warn('cannot sweep old events, will try again', { error });
      }
    }
  })();
  return {
    stop() {
      stop.abort();
      return running;
    },
  };
}

/** Milliseconds since the epoch of the newest time an event tells of itself. */
export function lastWritten(event: KubeObject): number {
  const times = [event.lastTimestamp, event.series?.lastObservedTime, event.eventTime, event.metadata.creationTimestamp];
  return Math.max(...times.map((time) => (typeof time === 'string' ? Date.parse(time) : 0)));
}

function ignoreGone(error: unknown): void {
  if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
}
