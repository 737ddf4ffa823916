import type { KubeObject } from '../../../../kube/object.ts';
import { countReady, groupPods, type PodGroups } from './pod-groups.ts';
import { requestsOf } from './requests.ts';
import { averageOf, isWithin, utilizationOf, type PodMetrics, type Tolerances } from './usage.ts';

/** How many replicas a metric asks for. Amounts are in thousandths. */
export interface Proposal {
  replicas: number;
  /** What is used now: per Pod, or in all for a metric of something else. */
  usage: number;
  /** Percent of what was requested, for a target in percent. */
  percent?: number;
}

export interface PodsInput {
  currentReplicas: number;
  pods: readonly KubeObject[];
  metrics: PodMetrics;
  /** `cpu`, `memory` ...; empty for a custom metric. */
  resource: string;
  tolerances: Tolerances;
  now: number;
}

const MAX_REPLICAS = 2 ** 31 - 1;
const MAX_AMOUNT = 2 ** 63;

/** For a share of what Pods request. */
export function utilizationReplicas(input: PodsInput, targetPercent: number, container: string): Proposal {
  const { groups, metrics } = believed(input);
  const requests = requestsOf(input.pods, input.resource, container);
  const before = utilizationOf(metrics, requests, targetPercent);
  // Pods of which nothing is known keep a scale-down small: they may use everything they asked for.
  const assumed = (pod: string) => Math.trunc((requests.get(pod)! * Math.max(100, targetPercent)) / 100);
  const replicas = settle(input, groups, metrics, before.ratio, assumed, () => utilizationOf(metrics, requests, targetPercent).ratio);
  return { replicas, usage: before.average, percent: before.percent };
}

/** For an amount per Pod. */
export function averageReplicas(input: PodsInput, target: number): Proposal {
  const { groups, metrics } = believed(input);
  const before = averageOf(metrics, target);
  const replicas = settle(
    input,
    groups,
    metrics,
    before.ratio,
    () => target,
    () => averageOf(metrics, target).ratio,
  );
  return { replicas, usage: before.average };
}

/** The metrics of the Pods that are ready. */
function believed({ pods, metrics, resource, now }: PodsInput): { groups: PodGroups; metrics: PodMetrics } {
  if (pods.length === 0) throw new Error('no pods returned by selector while calculating replica count');
  const groups = groupPods(pods, metrics, resource, now);
  const left = new Map(metrics);
  for (const name of [...groups.ignored, ...groups.unready]) left.delete(name);
  if (left.size === 0) throw new Error('did not receive metrics for targeted pods (pods might be unready)');
  return { groups, metrics: left };
}

/**
 * Pods without a metric are assumed to use what makes the change smaller, and so are Pods that are not ready when the size would grow.
 * When that turns the direction around, nothing changes.
 */
function settle(
  { currentReplicas, tolerances }: PodsInput,
  { ready, unready, missing }: PodGroups,
  metrics: PodMetrics,
  ratio: number,
  assumedWhenShrinking: (pod: string) => number,
  ratioAgain: () => number,
): number {
  const growsPastUnready = unready.length > 0 && ratio > 1;
  if (!growsPastUnready && missing.length === 0) {
    return isWithin(tolerances, ratio) ? currentReplicas : Math.ceil(ratio * ready);
  }
  const assume = (pod: string, value: number) => metrics.set(pod, { value, atMs: 0, windowMs: 0 });
  if (ratio < 1) for (const pod of missing) assume(pod, assumedWhenShrinking(pod));
  if (ratio > 1) for (const pod of missing) assume(pod, 0);
  if (growsPastUnready) for (const pod of unready) assume(pod, 0);
  const next = ratioAgain();
  if (isWithin(tolerances, next) || (ratio < 1 && next > 1) || (ratio > 1 && next < 1)) return currentReplicas;
  const replicas = Math.ceil(next * metrics.size);
  const turned = (next < 1 && replicas > currentReplicas) || (next > 1 && replicas < currentReplicas);
  return turned ? currentReplicas : replicas;
}

/** For one value that all Pods together should bring to the target: the length of a queue, the load of an Ingress. */
export function totalReplicas(
  currentReplicas: number,
  usage: number,
  target: number,
  pods: () => readonly KubeObject[],
  tolerances: Tolerances,
): Proposal {
  const ratio = usage / target;
  if (currentReplicas === 0) return { replicas: asReplicas(ratio), usage };
  if (isWithin(tolerances, ratio)) return { replicas: currentReplicas, usage };
  return { replicas: asReplicas(ratio * countReady(pods())), usage };
}

/** For one value of which every replica should have so much. */
export function sharedReplicas(statusReplicas: number, total: number, targetPerPod: number, tolerances: Tolerances): Proposal {
  const ratio = total / (targetPerPod * statusReplicas);
  const replicas = isWithin(tolerances, ratio) ? statusReplicas : asReplicas(total / targetPerPod);
  // Nobody shares it yet: the whole is what there is to say.
  const usage = statusReplicas === 0 || total >= MAX_AMOUNT ? total : Math.ceil(total / statusReplicas);
  return { replicas, usage };
}

/** Several series of one external metric count together. */
export function sumOf(values: readonly number[]): number {
  return Math.min(
    MAX_AMOUNT,
    values.reduce((sum, value) => sum + value, 0),
  );
}

function asReplicas(count: number): number {
  return Math.min(MAX_REPLICAS, Math.ceil(count));
}
