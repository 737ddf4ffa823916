import type { Json } from '../../../../kube/object.ts';
import { DOWNSCALE_STABILIZATION_MS, type ScalingHistory } from './history.ts';
import { limitByBehavior, limitByDefault, type Limited, type Range } from './limits.ts';

/** The size to have now, and what the conditions AbleToScale and ScalingLimited say about it. */
export interface Normalized {
  replicas: number;
  ableToScale: { reason: string; message: string };
  limited: Omit<Limited, 'replicas'> & { status: 'True' | 'False' };
}

const READY = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' };
const HELD_UP = {
  reason: 'ScaleDownStabilized',
  message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
};
const HELD_DOWN = {
  reason: 'ScaleUpStabilized',
  message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
};

/** From the size that metrics ask for to the one that may be had: recent recommendations first, then the limits. */
export function normalize(desired: number, range: Range, behavior: Json, history: ScalingHistory, now: number): Normalized {
  if (behavior === undefined) {
    const stable = history.highestRecent(desired, now);
    return outcome(stable, stable === desired ? READY : HELD_UP, limitByDefault(stable, range));
  }
  const upMs = (behavior.scaleUp?.stabilizationWindowSeconds ?? 0) * 1000;
  const downSeconds = behavior.scaleDown?.stabilizationWindowSeconds;
  const downMs = downSeconds === undefined ? DOWNSCALE_STABILIZATION_MS : downSeconds * 1000;
  const stable = history.stabilized(range.current, desired, upMs, downMs, now);
  const held = desired >= range.current ? HELD_DOWN : HELD_UP;
  const limited = limitByBehavior(stable, range, behavior, { up: history.up, down: history.down, now });
  return outcome(stable, stable === desired ? READY : held, limited);
}

function outcome(stable: number, ableToScale: Normalized['ableToScale'], { replicas, reason, message }: Limited): Normalized {
  return { replicas, ableToScale, limited: { status: replicas === stable ? 'False' : 'True', reason, message } };
}
