import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkNonnegative } from '../formats.ts';
import { checkAtMost100Percent, checkPositiveIntOrPercent, isZero } from '../int-or-percent.ts';
import { internalForm } from '../internal-form.ts';
import { path, type Path } from '../path.ts';
import type { PodOptions } from '../pod/options.ts';
import { templateOptions } from '../pod/template.ts';
import { checkCollisionCount, checkCounters, checkWithinReplicas } from './replicas-status.ts';
import { checkReplicaSetTemplate, checkSelectedTemplate, checkSelectorImmutable, checkWorkloadSelector } from './selector-template.ts';

const SPEC = path('spec');
const STATUS = path('status');
const COUNTERS = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'terminatingReplicas',
  'collisionCount',
];

export function validateDeployment(out: Findings, deployment: KubeObject, old: KubeObject | undefined, subresource: string): void {
  if (subresource === 'status' && old !== undefined) {
    const status = deployment.status ?? {};
    checkCounters(out, status, COUNTERS, STATUS);
    checkWithinReplicas(out, status, ['updatedReplicas', 'readyReplicas', 'availableReplicas'], 'readyReplicas', STATUS);
    return checkCollisionCount(out, status, old.status ?? {}, STATUS);
  }
  const spec = deployment.spec ?? {};
  checkSpec(out, spec, templateOptions(old?.spec?.template));
  if (old !== undefined) checkSelectorImmutable(out, spec.selector, old.spec?.selector, SPEC.child('selector'));
}

function checkSpec(out: Findings, spec: Json, options: PodOptions): void {
  const at = SPEC;
  checkNonnegative(out, spec.replicas, at.child('replicas'));
  checkWorkloadSelector(out, spec.selector, 'deployment', at.child('selector'));
  checkSelectedTemplate(out, spec, at, 'invalid label selector', (template, templateAt) =>
    checkReplicaSetTemplate(out, spec.selector, template, templateAt, options),
  );
  checkStrategy(out, spec.strategy ?? {}, at.child('strategy'));
  checkNonnegative(out, spec.minReadySeconds, at.child('minReadySeconds'));
  checkNonnegative(out, spec.revisionHistoryLimit, at.child('revisionHistoryLimit'));
  const deadline = spec.progressDeadlineSeconds;
  if (deadline === undefined) return;
  checkNonnegative(out, deadline, at.child('progressDeadlineSeconds'));
  if (deadline <= (spec.minReadySeconds ?? 0)) {
    out.invalid(at.child('progressDeadlineSeconds'), deadline, 'must be greater than minReadySeconds');
  }
}

function checkStrategy(out: Findings, strategy: Json, at: Path): void {
  const { type, rollingUpdate } = strategy;
  if (type === 'Recreate') {
    if (rollingUpdate !== undefined) {
      out.forbidden(at.child('rollingUpdate'), "may not be specified when strategy `type` is 'Recreate'");
    }
  } else if (type === 'RollingUpdate') {
    if (rollingUpdate === undefined) out.required(at.child('rollingUpdate'), 'this should be defaulted and never be nil');
    else checkRollingUpdate(out, rollingUpdate, at.child('rollingUpdate'));
  } else out.notSupported(at, internalForm('apps.DeploymentStrategy', strategy), ['Recreate', 'RollingUpdate']);
}

function checkRollingUpdate(out: Findings, { maxUnavailable, maxSurge }: Json, at: Path): void {
  checkPositiveIntOrPercent(out, maxUnavailable, at.child('maxUnavailable'));
  checkPositiveIntOrPercent(out, maxSurge, at.child('maxSurge'));
  if (isZero(maxUnavailable) && isZero(maxSurge)) {
    out.invalid(at.child('maxUnavailable'), maxUnavailable ?? 0, 'may not be 0 when `maxSurge` is 0');
  }
  checkAtMost100Percent(out, maxUnavailable, at.child('maxUnavailable'));
}
