import type { ClusterPolicy } from '../../../../api/tenantry.dev/v1alpha1/cluster-policy.ts';
import type { Clock, Timer } from '../../../../lib/clock.ts';

/** Longer than this no timer is set: it looks again instead. */
const LONGEST_MS = 24 * 3600 * 1000;

/** Calls `onExpiry` when the next version of a policy expires. */
export function nextExpiry(clock: Clock, policies: () => ClusterPolicy[], onExpiry: () => void): { set(): void; stop(): void } {
  let timer: Timer | undefined;
  const set = () => {
    timer?.cancel();
    timer = undefined;
    const now = clock.now();
    const next = Math.min(
      ...policies()
        .flatMap(({ spec }) => spec.versions ?? [])
        .flatMap(({ expirationDate }) => (expirationDate === undefined ? [] : [Date.parse(expirationDate)]))
        .filter((time) => time > now),
    );
    if (next === Infinity) return;
    timer = clock.setTimer(Math.min(next - now, LONGEST_MS), () => {
      onExpiry();
      set();
    });
  };
  return { set, stop: () => timer?.cancel() };
}
