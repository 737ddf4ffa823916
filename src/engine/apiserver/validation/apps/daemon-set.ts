import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkNonnegative } from '../formats.ts';
import { checkAtMost100Percent, checkPositiveIntOrPercent, isZero } from '../int-or-percent.ts';
import { internalForm, mapForm, selectorForm } from '../internal-form.ts';
import { checkLabelSelector, hasInvalidSelectorValue, selectorIsEmpty, selectorIsUsable, selectorMatches } from '../labels.ts';
import { path, type Path } from '../path.ts';
import { checkPodTemplate, templateOptions } from '../pod/template.ts';
import { checkCollisionCount, checkCounters } from './replicas-status.ts';
import { checkAlwaysRunning, checkSelectorImmutable } from './selector-template.ts';

const SPEC = path('spec');
const STATUS = path('status');
const COUNTERS = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
];

export function validateDaemonSet(out: Findings, set: KubeObject, old: KubeObject | undefined, subresource: string): void {
  if (subresource === 'status' && old !== undefined) {
    checkCounters(out, set.status ?? {}, COUNTERS, STATUS);
    return checkCollisionCount(out, set.status ?? {}, old.status ?? {}, STATUS);
  }
  const spec = set.spec ?? {};
  if (old !== undefined) checkSelectorImmutable(out, spec.selector, old.spec?.selector, SPEC.child('selector'));
  checkSpec(out, spec, old?.spec);
}

function checkSpec(out: Findings, spec: Json, oldSpec: Json): void {
  const { selector, template = {} } = spec;
  const options = templateOptions(oldSpec?.template);
  const allowInvalidValues = options.allowInvalidSelectorValues || hasInvalidSelectorValue(oldSpec?.selector);
  checkLabelSelector(out, selector, SPEC.child('selector'), { allowInvalidValues });
  if (selectorIsUsable(selector) && !selectorMatches(selector, template.metadata?.labels)) {
    const at = SPEC.child('template', 'metadata', 'labels');
    out.invalid(at, mapForm(template.metadata?.labels), '`selector` does not match template `labels`');
  }
  if (selector !== undefined && selectorIsEmpty(selector)) {
    out.invalid(SPEC.child('selector'), selectorForm(selector), 'empty selector is invalid for daemonset');
  }
  checkPodTemplate(out, template, SPEC.child('template'), options);
  checkAlwaysRunning(out, template, 'DaemonSet', SPEC.child('template'));
  checkNonnegative(out, spec.minReadySeconds, SPEC.child('minReadySeconds'));
  checkUpdateStrategy(out, spec.updateStrategy ?? {}, SPEC.child('updateStrategy'));
  checkNonnegative(out, spec.revisionHistoryLimit, SPEC.child('revisionHistoryLimit'));
}

function checkUpdateStrategy(out: Findings, strategy: Json, at: Path): void {
  if (strategy.type === 'OnDelete') return;
  if (strategy.type !== 'RollingUpdate') {
    return out.notSupported(at, internalForm('apps.DaemonSetUpdateStrategy', strategy), ['RollingUpdate', 'OnDelete']);
  }
  const rollingAt = at.child('rollingUpdate');
  if (strategy.rollingUpdate === undefined) return out.required(rollingAt);
  const { maxUnavailable, maxSurge } = strategy.rollingUpdate;
  checkPositiveIntOrPercent(out, maxUnavailable, rollingAt.child('maxUnavailable'));
  checkPositiveIntOrPercent(out, maxSurge, rollingAt.child('maxSurge'));
  checkAtMost100Percent(out, maxUnavailable, rollingAt.child('maxUnavailable'));
  checkAtMost100Percent(out, maxSurge, rollingAt.child('maxSurge'));
  const [unavailable, surge] = [!isZero(maxUnavailable), !isZero(maxSurge)];
  if (unavailable && surge) out.invalid(rollingAt.child('maxSurge'), maxSurge, 'may not be set when maxUnavailable is non-zero');
  if (!unavailable && !surge) out.required(rollingAt.child('maxUnavailable'), 'cannot be 0 when maxSurge is 0');
}
