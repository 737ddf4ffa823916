import type { Json } from '../../../../kube/object.ts';
import { formatTime } from '../../../../kube/time.ts';

/** Conditions of built-in workloads: like metav1.Condition, with `lastUpdateTime` on some kinds. */
export interface WorkloadCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastUpdateTime?: string;
  lastTransitionTime?: string;
  lastProbeTime?: string;
}

export function conditionOf(status: Json, type: string): WorkloadCondition | undefined {
  return (status?.conditions ?? []).find((condition: WorkloadCondition) => condition.type === type);
}

/** The list with the condition at its end. A condition that says the same stays as it is. */
export function withCondition(
  conditions: readonly WorkloadCondition[] | undefined,
  next: Pick<WorkloadCondition, 'type' | 'status' | 'reason' | 'message'>,
  now: number,
  options: { updateTime?: boolean } = {},
): WorkloadCondition[] {
  const list = conditions ?? [];
  const current = list.find(({ type }) => type === next.type);
  if (current && current.status === next.status && current.reason === next.reason) return [...list];
  const time = formatTime(new Date(now));
  const lastTransitionTime = current?.status === next.status ? current.lastTransitionTime : time;
  const condition = { ...next, ...(options.updateTime ? { lastUpdateTime: time } : {}), lastTransitionTime };
  return [...list.filter(({ type }) => type !== next.type), condition];
}

export function withoutCondition(conditions: readonly WorkloadCondition[] | undefined, type: string): WorkloadCondition[] {
  return (conditions ?? []).filter((condition) => condition.type !== type);
}
