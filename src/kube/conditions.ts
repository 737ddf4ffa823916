import { formatTime } from './time.ts';

export type ConditionStatus = 'True' | 'False' | 'Unknown';

export interface Condition {
  type: string;
  status: ConditionStatus;
  observedGeneration?: number;
  lastTransitionTime: string;
  reason: string;
  message: string;
}

export function findCondition<C extends { type: string }>(conditions: readonly C[] | undefined, type: string): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isConditionTrue(conditions: readonly { type: string; status: string }[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

/**
 * Writes a condition into a list. The transition time moves only when the status does, so that writing the same thing twice
 * changes nothing. @returns whether anything changed
 */
export function setCondition(conditions: Condition[], next: Omit<Condition, 'lastTransitionTime'>, now: Date): boolean {
  const existing = findCondition(conditions, next.type);
  if (!existing) {
    const { observedGeneration, ...rest } = next;
    conditions.push({ ...rest, ...(observedGeneration === undefined ? {} : { observedGeneration }), lastTransitionTime: formatTime(now) });
    return true;
  }
  let changed = false;
  if (existing.status !== next.status) {
    existing.status = next.status;
    existing.lastTransitionTime = formatTime(now);
    changed = true;
  }
  for (const field of ['reason', 'message', 'observedGeneration'] as const) {
    if (existing[field] === next[field]) continue;
    changed = true;
    if (next[field] === undefined) delete existing[field];
    else Object.assign(existing, { [field]: next[field] });
  }
  return changed;
}

/** @returns whether it was there */
export function removeCondition(conditions: Condition[], type: string): boolean {
  const index = conditions.findIndex((condition) => condition.type === type);
  if (index >= 0) conditions.splice(index, 1);
  return index >= 0;
}
