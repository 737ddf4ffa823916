import type { Json, KubeObject } from '../../../../kube/object.ts';
import { checkReplicaSetStatus } from '../apps/replica-set.ts';
import { checkAlwaysRunning } from '../apps/selector-template.ts';
import type { Findings } from '../findings.ts';
import { checkNonnegative } from '../formats.ts';
import { mapForm } from '../internal-form.ts';
import { selectorMatches } from '../labels.ts';
import { path } from '../path.ts';
import { checkPodTemplate, templateOptions } from '../pod/template.ts';

const SPEC = path('spec');

export function validateReplicationController(
  out: Findings,
  controller: KubeObject,
  old: KubeObject | undefined,
  subresource: string,
): void {
  if (subresource === 'status') return checkReplicaSetStatus(out, controller);
  const spec = controller.spec ?? {};
  const isEmpty = Object.keys(spec.selector ?? {}).length === 0;
  checkNonnegative(out, spec.minReadySeconds, SPEC.child('minReadySeconds'));
  if (isEmpty) out.required(SPEC.child('selector'));
  if (spec.replicas === undefined) out.required(SPEC.child('replicas'));
  else checkNonnegative(out, spec.replicas, SPEC.child('replicas'));
  if (spec.template === undefined) out.required(SPEC.child('template'));
  else checkTemplate(out, spec, isEmpty, old?.spec?.template);
}

function checkTemplate(out: Findings, spec: Json, selectorIsEmpty: boolean, oldTemplate: Json): void {
  const { template, selector } = spec;
  const at = SPEC.child('template');
  const labels = template.metadata?.labels;
  if (!selectorIsEmpty && !selectorMatches({ matchLabels: selector }, labels)) {
    out.invalid(at.child('metadata', 'labels'), mapForm(labels), '`selector` does not match template `labels`');
  }
  checkPodTemplate(out, template, at, templateOptions(oldTemplate));
  checkAlwaysRunning(out, template, 'ReplicationController', at);
}
