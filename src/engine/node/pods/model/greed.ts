import type { PodSpec } from '../../../../kube/generated/core-v1.ts';
import { podRequests } from '../../../../kube/pod-requests.ts';
import { podLimits } from './container-spec.ts';

/** Of one processor. Nobody is greedy with less, whatever was asked for: probes alone take some. */
const LITTLE = 0.05;
/** Parts of what it may use: above the first it is greedy, until it is below the second. One who would be now this, now that helps nobody. */
const GREEDY_FROM = 1.1;
const GREEDY_TO = 0.75;
/** Of what it may use. More does not count: whoever used all of a large machine shall not be forgotten later than others. */
const MOST_COUNTED = 2;
/** How many looks the average goes back, about. */
const LOOKS = 4;

/** In processors: what a Pod may use before others go first. Without end where its limit holds it to what it asked for. */
export function allowance(spec: PodSpec): number {
  const requested = podRequests(spec).cpu;
  const { cpuMillis: limit } = podLimits(spec);
  return limit !== undefined && limit <= requested ? Infinity : Math.max(LITTLE, requested / 1000);
}

/** What a Pod used lately, from what that was at the last look and what it used since. */
export function usedLately(lately: number, use: number, allowed: number): number {
  return lately + (Math.min(use, allowed * MOST_COUNTED) - lately) / LOOKS;
}

/** Whoever gets much less than it asked for is not greedy any more: others would keep what was promised to it. */
export function isGreedy(lately: number, allowed: number, wasGreedy: boolean): boolean {
  return lately > allowed * (wasGreedy ? GREEDY_TO : GREEDY_FROM);
}
