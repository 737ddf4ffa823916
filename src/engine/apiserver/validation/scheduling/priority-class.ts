import type { KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkImmutable, checkOneOf } from '../formats.ts';
import { path } from '../path.ts';

const SYSTEM_PREFIX = 'system-';
const SYSTEM_CLASSES: Record<string, number> = { 'system-node-critical': 2_000_001_000, 'system-cluster-critical': 2_000_000_000 };
const MAX_USER_PRIORITY = 1_000_000_000;

export function validatePriorityClass(out: Findings, priorityClass: KubeObject, old: KubeObject | undefined): void {
  const { value = 0, preemptionPolicy } = priorityClass;
  if (old !== undefined) {
    if (value !== (old.value ?? 0)) out.forbidden(path('value'), 'may not be changed in an update.');
    return checkImmutable(out, preemptionPolicy, old.preemptionPolicy, path('preemptionPolicy'));
  }
  const name = priorityClass.metadata.name ?? '';
  if (name.startsWith(SYSTEM_PREFIX)) {
    const error = systemClassError(name, value, priorityClass.globalDefault ?? false);
    const reserved = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only`;
    if (error !== undefined) out.forbidden(path('metadata', 'name'), `${reserved}. error: ${error}`);
  } else if (value > MAX_USER_PRIORITY) {
    out.forbidden(path('value'), `maximum allowed value of a user defined priority is ${MAX_USER_PRIORITY}`);
  }
  if (preemptionPolicy !== undefined) checkOneOf(out, preemptionPolicy, ['PreemptLowerPriority', 'Never'], path('preemptionPolicy'));
}

function systemClassError(name: string, value: number, globalDefault: boolean): string | undefined {
  const expected = SYSTEM_CLASSES[name];
  if (expected === undefined) return `${name} is not a known system priority class`;
  if (value !== expected) return `value of ${name} PriorityClass must be ${expected}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}
