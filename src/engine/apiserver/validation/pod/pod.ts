import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { path } from '../path.ts';
import { checkAppArmorAnnotationsMatch, checkPodAnnotations, checkSeccompAnnotationsMatch } from './annotations.ts';
import { checkImageSpaces } from './containers.ts';
import { podOptions, type PodOptions } from './options.ts';
import { checkPodSpec } from './pod-spec.ts';
import { checkEphemeralContainersUpdate, checkPodUpdate } from './pod-update.ts';
import { checkPodResize } from './resize.ts';
import { checkPodStatusUpdate } from './pod-status.ts';

const SPEC = path('spec');
const ANNOTATIONS = path('metadata', 'annotations');

export function validatePod(out: Findings, pod: KubeObject, old: KubeObject | undefined, subresource: string): void {
  if (old === undefined) return checkPodCreate(out, pod);
  const options = podOptions(true, old.spec ?? {}, old.metadata);
  switch (subresource) {
    case 'status':
      return checkPodStatusUpdate(out, pod, old, options);
    case 'ephemeralcontainers':
      checkWholePod(out, pod, options);
      return checkEphemeralContainersUpdate(out, pod, old, options);
    case 'resize':
      checkWholePod(out, pod, options);
      return checkPodResize(out, pod, old);
    default:
      checkWholePod(out, pod, options);
      return out.later(() => checkPodUpdate(out, pod, old, options));
  }
}

function checkWholePod(out: Findings, pod: KubeObject, options: PodOptions): void {
  const spec = pod.spec ?? {};
  checkPodAnnotations(out, pod.metadata.annotations, spec, ANNOTATIONS, options);
  checkPodSpec(out, spec, pod.metadata, SPEC, options);
  if (!spec.serviceAccountName) checkNoTokens(out, spec);
  for (const field of ['containers', 'initContainers']) {
    (spec[field] ?? []).forEach((container: Json, i: number) => checkImageSpaces(out, container, SPEC.child(field).index(i)));
  }
}

/** Tokens are those of a service account, so there has to be one. */
function checkNoTokens(out: Findings, spec: Json): void {
  (spec.volumes ?? []).forEach((volume: Json, i: number) => {
    (volume.projected?.sources ?? []).forEach((source: Json, j: number) => {
      if (source.serviceAccountToken === undefined) return;
      const at = SPEC.child('volumes').index(i).child('projected', 'sources').index(j).child('serviceAccountToken');
      out.forbidden(at, 'must not be specified when serviceAccountName is not set');
    });
  });
}

function checkPodCreate(out: Findings, pod: KubeObject): void {
  const spec = pod.spec ?? {};
  checkWholePod(out, pod, podOptions(true));
  if ((spec.ephemeralContainers ?? []).length > 0) out.forbidden(SPEC.child('ephemeralContainers'), 'cannot be set on create');
  if (spec.nodeName && (spec.schedulingGates ?? []).length > 0) {
    out.forbidden(SPEC.child('nodeName'), 'cannot be set until all schedulingGates have been cleared');
  }
  checkSeccompAnnotationsMatch(out, pod.metadata.annotations, spec, SPEC);
  checkAppArmorAnnotationsMatch(out, pod.metadata.annotations, spec, SPEC);
}

/** The body of pods/binding. */
export function validateBinding(out: Findings, binding: KubeObject): void {
  const target = binding.target ?? {};
  if (target.kind && target.kind !== 'Node') out.notSupported(path('target', 'kind'), target.kind, ['Node', '<empty>']);
  if (!target.name) out.required(path('target', 'name'));
}
