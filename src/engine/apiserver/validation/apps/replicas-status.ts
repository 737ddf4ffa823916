import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkNonnegative } from '../formats.ts';
import type { Path } from '../path.ts';

/** Counters of a workload's status: none negative, parts no larger than the whole. */
export function checkCounters(out: Findings, status: Json, fields: readonly string[], at: Path): void {
  for (const field of fields) if (status[field] < 0) checkNonnegative(out, status[field], at.child(field));
}

export function checkWithinReplicas(out: Findings, status: Json, fields: readonly string[], readyText: string, at: Path): void {
  const count = (field: string): number => status[field] ?? 0;
  for (const field of fields) {
    if (count(field) > count('replicas')) out.invalid(at.child(field), count(field), 'cannot be greater than status.replicas');
  }
  if (count('availableReplicas') > count('readyReplicas')) {
    out.invalid(at.child('availableReplicas'), count('availableReplicas'), `cannot be greater than ${readyText}`);
  }
}

export function checkCollisionCount(out: Findings, status: Json, old: Json, at: Path): void {
  const [count, before] = [status.collisionCount, old.collisionCount];
  if (before !== undefined && (count === undefined || count < before))
    out.invalid(at.child('collisionCount'), count ?? 0, 'cannot be decremented');
}
