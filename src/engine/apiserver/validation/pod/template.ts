import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkAnnotations, checkLabels } from '../labels.ts';
import { path, type Path } from '../path.ts';
import { checkAppArmorAnnotationsMatch, checkPodAnnotations, checkSeccompAnnotationsMatch } from './annotations.ts';
import { podOptions, type PodOptions } from './options.ts';
import { checkPodSpec } from './pod-spec.ts';

/** Pod templates inside Deployments, Jobs and the like. */
export function templateOptions(oldTemplate?: Json): PodOptions {
  return podOptions(false, oldTemplate?.spec, oldTemplate?.metadata);
}

export function checkPodTemplate(out: Findings, template: Json, at: Path, options: PodOptions): void {
  const spec = template.spec ?? {};
  const annotations = template.metadata?.annotations;
  checkLabels(out, template.metadata?.labels, at.child('labels'));
  checkAnnotations(out, annotations, at.child('annotations'));
  checkPodAnnotations(out, annotations, spec, at.child('annotations'), options);
  checkPodSpec(out, spec, undefined, at.child('spec'), options);
  checkSeccompAnnotationsMatch(out, annotations, spec, at.child('spec'));
  checkAppArmorAnnotationsMatch(out, annotations, spec, at.child('spec'));
  if ((spec.ephemeralContainers ?? []).length > 0) {
    out.forbidden(at.child('spec', 'ephemeralContainers'), 'ephemeral containers not allowed in pod template');
  }
}

export function validatePodTemplateObject(out: Findings, object: KubeObject, old: KubeObject | undefined): void {
  checkPodTemplate(out, object.template ?? {}, path('template'), templateOptions(old?.template));
}
