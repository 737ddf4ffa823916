import type { Taint, Toleration } from '../../../kube/generated/core-v1.ts';
import { toleratesTaint } from '../../../kube/taints.ts';

/** When a Pod has to leave a node with these taints, in milliseconds since the epoch: now at the earliest; undefined when it may stay. */
export function evictionTime(taints: readonly Taint[], tolerations: readonly Toleration[], now: number): number | undefined {
  let earliest: number | undefined;
  for (const taint of taints) {
    if (taint.effect !== 'NoExecute') continue;
    const matching = tolerations.filter((toleration) => toleratesTaint(toleration, taint));
    if (matching.length === 0) return now;
    const since = Date.parse(taint.timeAdded ?? '') || now;
    for (const { tolerationSeconds } of matching) {
      if (tolerationSeconds === undefined) continue;
      const time = Math.max(since + Math.max(tolerationSeconds, 0) * 1000, now);
      if (earliest === undefined || time < earliest) earliest = time;
    }
  }
  return earliest;
}
