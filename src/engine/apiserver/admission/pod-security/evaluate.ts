import type { Json, ObjectMeta } from '../../../../kube/object.ts';
import { BASELINE_HOST_CHECKS } from './baseline-host.ts';
import { BASELINE_PRIVILEGE_CHECKS } from './baseline-privileges.ts';
import type { Check, CheckPod, Violation } from './check.ts';
import type { Level, LevelVersion } from './policy.ts';
import { RESTRICTED_CHECKS } from './restricted.ts';

/** Baseline first, each level by the checks' ids: the order of the findings in messages. */
const CHECKS: Check[] = [...[...BASELINE_HOST_CHECKS, ...BASELINE_PRIVILEGE_CHECKS].sort(byId), ...RESTRICTED_CHECKS.sort(byId)];
const NEWEST_MINOR = Math.max(...CHECKS.map((check) => check.versions.at(-1)!.since));

const effective = new Map<string, CheckPod[]>();

/** Everything the pod violates of a level as of a version; empty when it is allowed. */
export function evaluatePod({ level, minor }: LevelVersion, metadata: ObjectMeta, spec: Json): Violation[] {
  if (level === 'privileged') return [];
  const violations: Violation[] = [];
  for (const check of checksFor(level, Math.min(minor, NEWEST_MINOR))) {
    const violation = check(spec, metadata);
    if (violation) violations.push(violation);
  }
  return violations;
}

/** `host namespaces, privileged`, for several pods that share their violations. */
export function reasonsText(violations: Violation[]): string {
  return violations.map((violation) => violation.reason).join(', ');
}

/** `host namespaces (hostNetwork=true), privileged (container "c" must not ...)`, for one pod. */
export function detailsText(violations: Violation[]): string {
  return violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');
}

function checksFor(level: Exclude<Level, 'privileged'>, minor: number): CheckPod[] {
  const key = `${level}:${minor}`;
  let checks = effective.get(key);
  if (!checks) effective.set(key, (checks = select(level, minor)));
  return checks;
}

function select(level: Exclude<Level, 'privileged'>, minor: number): CheckPod[] {
  const applicable = CHECKS.filter((check) => level === 'restricted' || check.level === 'baseline').flatMap((check) => {
    const version = check.versions.findLast((candidate) => candidate.since <= minor);
    return version ? [{ id: check.id, ...version }] : [];
  });
  const overridden = new Set(applicable.flatMap((check) => check.overrides ?? []));
  return applicable.filter((check) => !overridden.has(check.id)).map((entry) => entry.check);
}

function byId(a: Check, b: Check): number {
  return a.id < b.id ? -1 : 1;
}
