import type { Json } from '../../../../kube/object.ts';
import { changedWithin, type ScaleEvent } from './history.ts';

/** A size after limits, and what the condition ScalingLimited says about it. */
export interface Limited {
  replicas: number;
  reason: string;
  message: string;
}

/** Without a behavior the size at most doubles in one step, and may always become four. */
const GROWTH_FACTOR = 2;
const GROWTH_MINIMUM = 4;

const WITHIN_RANGE = { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' };
const TOO_FEW = { reason: 'TooFewReplicas', message: 'the desired replica count is less than the minimum replica count' };
const TOO_MANY = { reason: 'TooManyReplicas', message: 'the desired replica count is more than the maximum replica count' };
const TOO_FAST_UP = { reason: 'ScaleUpLimit', message: 'the desired replica count is increasing faster than the maximum scale rate' };
const TOO_FAST_DOWN = { reason: 'ScaleDownLimit', message: 'the desired replica count is decreasing faster than the maximum scale rate' };

export interface Range {
  current: number;
  min: number;
  max: number;
}

export function limitByDefault(desired: number, { current, min, max }: Range): Limited {
  const limit = Math.max(GROWTH_FACTOR * current, GROWTH_MINIMUM);
  const highest = Math.min(max, limit);
  if (desired < min) return { replicas: min, ...TOO_FEW };
  if (desired > highest) return { replicas: highest, ...(max > limit ? TOO_FAST_UP : TOO_MANY) };
  return { replicas: desired, ...WITHIN_RANGE };
}

/** The changes of the last time, which the rates of a behavior are about. */
export interface Changes {
  up: readonly ScaleEvent[];
  down: readonly ScaleEvent[];
  now: number;
}

/** `behavior` has its defaults: both directions, with policies. */
export function limitByBehavior(desired: number, range: Range, behavior: Json, changes: Changes): Limited {
  const { current, min, max } = range;
  if (desired > current) {
    const limit = Math.max(current, scaleUpLimit(current, behavior.scaleUp, changes));
    const highest = Math.min(max, limit);
    if (desired > highest) return { replicas: highest, ...(max > limit ? TOO_FAST_UP : TOO_MANY) };
  } else if (desired < current) {
    const limit = Math.min(current, scaleDownLimit(current, behavior.scaleDown, changes));
    const lowest = Math.max(min, limit);
    if (desired < lowest) return { replicas: lowest, ...(min < limit ? TOO_FAST_DOWN : TOO_FEW) };
  }
  return { replicas: desired, ...WITHIN_RANGE };
}

/** How large it may become now. */
export function scaleUpLimit(current: number, rules: Json, changes: Changes): number {
  if (rules.selectPolicy === 'Disabled') return current;
  const proposals = (rules.policies ?? []).map((policy: Json) => {
    const start = sizeAtStart(current, policy, changes);
    // Rounded up: a small percentage of a small size would never let it grow.
    return policy.type === 'Pods' ? start + policy.value : Math.ceil(start * (1 + policy.value / 100));
  });
  return rules.selectPolicy === 'Min' ? Math.min(...proposals) : Math.max(...proposals);
}

/** How small it may become now. */
export function scaleDownLimit(current: number, rules: Json, changes: Changes): number {
  if (rules.selectPolicy === 'Disabled') return current;
  const proposals = (rules.policies ?? []).map((policy: Json) => {
    const start = sizeAtStart(current, policy, changes);
    return policy.type === 'Pods' ? start - policy.value : Math.trunc(start * (1 - policy.value / 100));
  });
  return rules.selectPolicy === 'Min' ? Math.max(...proposals) : Math.min(...proposals);
}

/** The size when the period of the policy began. */
function sizeAtStart(current: number, policy: Json, { up, down, now }: Changes): number {
  const periodMs = policy.periodSeconds * 1000;
  return current - changedWithin(up, periodMs, now) + changedWithin(down, periodMs, now);
}
