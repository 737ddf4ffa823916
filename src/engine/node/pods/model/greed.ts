import type { PodSpec } from '../../../../kube/generated/core-v1.ts';
import { podRequests } from '../../../../kube/pod-requests.ts';
import { podLimits } from './container-spec.ts';

/** Of one processor. Nobody is greedy with less, whatever was asked for: probes alone take some. */
const LITTLE = 0.05;
/** So far above what it may use a Pod has to be to count as greedy; once it does, until it is below. */
const TOLERANCE = 1.1;

/** In processors: what a Pod may use before others go first. Without end where its limit holds it to what it asked for. */
export function allowance(spec: PodSpec): number {
  const requested = podRequests(spec).cpu;
  const { cpuMillis: limit } = podLimits(spec);
  return limit !== undefined && limit <= requested ? Infinity : Math.max(LITTLE, requested / 1000);
}

/** Whoever falls below what it asked for is not greedy any more: a request is kept, by whatever way. */
export function isGreedy(use: number, allowed: number, wasGreedy: boolean): boolean {
  return use > (wasGreedy ? allowed : allowed * TOLERANCE);
}
