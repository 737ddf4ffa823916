import { toTime } from '../../lib/clock.ts';

/** metav1.Condition */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  observedGeneration?: number;
  lastTransitionTime: string;
  reason: string;
  message: string;
}

export type ConditionUpdate = Omit<Condition, 'lastTransitionTime'>;

/** The list with the condition set; lastTransitionTime moves only when the status does, and nothing moves when nothing changed. */
export function setCondition(conditions: readonly Condition[], update: ConditionUpdate, now: number): readonly Condition[] {
  const previous = conditions.find((condition) => condition.type === update.type);
  if (previous && sameCondition(previous, update)) return conditions;
  const lastTransitionTime = previous && previous.status === update.status ? previous.lastTransitionTime : toTime(now);
  const next: Condition = { ...update, lastTransitionTime };
  return previous ? conditions.map((condition) => (condition === previous ? next : condition)) : [...conditions, next];
}

export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isConditionTrue(object: { status?: { conditions?: Condition[] } }, type: string): boolean {
  return findCondition(object.status?.conditions, type)?.status === 'True';
}

function sameCondition(a: ConditionUpdate, b: ConditionUpdate): boolean {
  return a.status === b.status && a.reason === b.reason && a.message === b.message && a.observedGeneration === b.observedGeneration;
}
