import { RUNTIMED_READY, type FailureReason } from '../../../api/kruntimes.io/v1alpha1/reasons.ts';
import type { Client } from '../../../client/client.ts';
import { Pod } from '../../../client/kinds.ts';
import { formatTime } from '../../../kube/time.ts';
import { sleep } from '../../../lib/abort.ts';
import { Backoff } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import { LIMITS_UNAVAILABLE } from '../protocol/error-texts.ts';

const EVERY_MS = 5000;
/** While Runs cannot be taken that is looked at again sooner, and less and less soon: somebody may wait for a Pod that has just started. */
const UNREADY = { initialMs: 100, maxMs: EVERY_MS, jitter: 0 };

export interface HeartbeatOptions {
  client: Client;
  namespace: string;
  pod: string;
  /** Whether Runs can be taken now, and if not, why. */
  isReady(): Promise<{ ready: boolean; message: string }>;
  clock: Clock;
  log: Log;
}

/**
 * Says on the Pod that runtimed lives. A timer, because silence is what it is about. Only the one condition is written: the kubelet owns
 * the others.
 */
export async function beat(options: HeartbeatOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, log } = options;
  const unready = new Backoff(UNREADY);
  let transition: { status: string; time: string } | undefined;
  let said: { message: string; at: number } | undefined;
  while (!signal.aborted) {
    const { ready, message } = await options.isReady();
    const pause = ready ? EVERY_MS : unready.next();
    if (ready) unready.reset();
    if (!ready && said?.message === message && clock.monotonic() - said.at < EVERY_MS) {
      await sleep(clock, pause, signal).catch(() => {});
      continue;
    }
    said = { message, at: clock.monotonic() };
    const status = ready ? 'True' : 'False';
    const now = formatTime(new Date(clock.now()));
    if (transition?.status !== status) transition = { status, time: now };
    const condition = {
      type: RUNTIMED_READY,
      status,
      reason: ready ? 'Heartbeat' : unreadyReason(message),
      message: ready ? 'runtimed heartbeat is fresh' : message,
      lastProbeTime: now,
      lastTransitionTime: transition.time,
    };
    await client
      .resource(Pod, options.namespace)
      .status.patch(options.pod, { type: 'strategic', patch: { status: { conditions: [condition] } } }, { signal })
      .catch((error: unknown) => {
        if (!signal.aborted) log.warn('cannot write the heartbeat', { error });
      });
    await sleep(clock, pause, signal).catch(() => {});
  }
}

/** What is missing on the machine is told apart from what may pass: the Runs of the Runtime need not wait for it. */
export function unreadyReason(message: string): string {
  if (message.startsWith('interpreter not found')) return 'InterpreterMissing' satisfies FailureReason;
  if (message.startsWith(LIMITS_UNAVAILABLE)) return 'LimitsUnavailable' satisfies FailureReason;
  return /\bisolation\b/.test(message) ? ('IsolationUnavailable' satisfies FailureReason) : 'RuntimeUnhealthy';
}
