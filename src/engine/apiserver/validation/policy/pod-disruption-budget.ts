import type { KubeObject } from '../../../../kube/object.ts';
import { checkConditions } from '../conditions.ts';
import type { Findings } from '../findings.ts';
import { checkNonnegative } from '../formats.ts';
import { checkAtMost100Percent, checkPositiveIntOrPercent } from '../int-or-percent.ts';
import { internalForm } from '../internal-form.ts';
import { checkLabelSelector, hasInvalidSelectorValue } from '../labels.ts';
import { path } from '../path.ts';

const SPEC = path('spec');
const STATUS = path('status');
const POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

export function validatePodDisruptionBudget(out: Findings, budget: KubeObject, old: KubeObject | undefined, subresource: string): void {
  if (subresource === 'status') return checkStatus(out, budget);
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = budget.spec ?? {};
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const form = internalForm('policy.PodDisruptionBudgetSpec', budget.spec);
    out.invalid(SPEC, form, 'minAvailable and maxUnavailable cannot be both set');
  }
  checkPositiveIntOrPercent(out, minAvailable, SPEC.child('minAvailable'));
  checkAtMost100Percent(out, minAvailable, SPEC.child('minAvailable'));
  checkPositiveIntOrPercent(out, maxUnavailable, SPEC.child('maxUnavailable'));
  checkAtMost100Percent(out, maxUnavailable, SPEC.child('maxUnavailable'));
  checkLabelSelector(out, selector, SPEC.child('selector'), { allowInvalidValues: hasInvalidSelectorValue(old?.spec?.selector) });
  if (policy !== undefined && !POLICIES.includes(policy)) {
    out.notSupported(SPEC.child('unhealthyPodEvictionPolicy'), policy, POLICIES);
  }
}

function checkStatus(out: Findings, budget: KubeObject): void {
  const status = budget.status ?? {};
  checkConditions(out, status.conditions ?? [], STATUS.child('conditions'));
  for (const field of ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']) {
    checkNonnegative(out, status[field], STATUS.child(field));
  }
}
