import type { Taint, Toleration } from './generated/core-v1.ts';

export type TaintEffect = Taint['effect'];

/** Whether one toleration covers the taint. Comparison operators (`Gt`, `Lt`) are alpha in Kubernetes and cover nothing. */
export function toleratesTaint(toleration: Toleration, taint: Pick<Taint, 'key' | 'value' | 'effect'>): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  const operator = toleration.operator ?? 'Equal';
  return operator === 'Exists' || (operator === 'Equal' && (toleration.value ?? '') === (taint.value ?? ''));
}

export function isTolerated(tolerations: readonly Toleration[], taint: Pick<Taint, 'key' | 'value' | 'effect'>): boolean {
  for (const toleration of tolerations) if (toleratesTaint(toleration, taint)) return true;
  return false;
}

/** The first taint of one of the effects that nothing tolerates. */
export function untoleratedTaint(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  effects: readonly TaintEffect[],
): Taint | undefined {
  for (const taint of taints) if (effects.includes(taint.effect) && !isTolerated(tolerations, taint)) return taint;
  return undefined;
}

/** What keeps Pods off a node that they were not on before. */
export const SCHEDULING_EFFECTS: readonly TaintEffect[] = ['NoSchedule', 'NoExecute'];
