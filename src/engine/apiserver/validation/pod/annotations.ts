import { quote } from '../../../../kube/go-text.ts';
import type { Json } from '../../../../kube/object.ts';
import { parseStrict } from '../../../../kube/strict-json.ts';
import type { Findings } from '../findings.ts';
import { checkLocalDescending } from '../relative-paths.ts';
import type { Path } from '../path.ts';
import type { PodOptions } from './options.ts';
import { checkTolerations } from './tolerations.ts';
import { visitContainers } from './visit.ts';

/** Annotations of Pods that mean something to Kubernetes, most of them older forms of fields. */
type Annotations = Record<string, string> | undefined;

export const MIRROR_POD = 'kubernetes.io/config.mirror';
const TOLERATIONS = 'scheduler.alpha.kubernetes.io/tolerations';
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';
const APPARMOR = 'container.apparmor.security.beta.kubernetes.io/';
const LOCALHOST = 'localhost/';

export function hasValidDeletionCost(annotations: Annotations): boolean {
  const cost = annotations?.[DELETION_COST];
  if (cost === undefined) return true;
  return /^(0|-?\d+)$/.test(cost) && !/^0./.test(cost) && Number(cost) >= -(2 ** 31) && Number(cost) < 2 ** 31;
}

export function checkPodAnnotations(out: Findings, annotations: Annotations, spec: Json, at: Path, options: PodOptions): void {
  if (annotations === undefined) return;
  if (annotations[MIRROR_POD] !== undefined && !spec.nodeName) {
    out.invalid(at.key(MIRROR_POD), annotations[MIRROR_POD], 'must set spec.nodeName if mirror pod annotation is set');
  }
  if (annotations[TOLERATIONS]) checkTolerationAnnotation(out, annotations[TOLERATIONS], at, options);
  if (!options.allowInvalidDeletionCost && !hasValidDeletionCost(annotations)) {
    out.invalid(at.key(DELETION_COST), annotations[DELETION_COST], 'must be a 32bit integer');
  }
  if (annotations[SECCOMP_POD] !== undefined) checkSeccompAnnotation(out, annotations[SECCOMP_POD], at.child(SECCOMP_POD));
  let names: Set<string> | undefined;
  for (const key in annotations) {
    if (key.startsWith(SECCOMP_CONTAINER)) checkSeccompAnnotation(out, annotations[key], at.child(key));
    else if (key.startsWith(APPARMOR)) {
      names ??= containerNames(spec, at);
      checkAppArmorAnnotation(out, key, annotations[key], names, at);
    }
  }
}

function checkTolerationAnnotation(out: Findings, text: string, at: Path, options: PodOptions): void {
  let tolerations: Json;
  try {
    tolerations = parseStrict(text);
  } catch (error) {
    return out.invalid(at, TOLERATIONS, (error as Error).message);
  }
  if (Array.isArray(tolerations)) checkTolerations(out, tolerations, at.child(TOLERATIONS), options);
}

function checkSeccompAnnotation(out: Findings, profile: string, at: Path): void {
  if (profile === 'runtime/default' || profile === 'docker/default' || profile === 'unconfined') return;
  if (profile.startsWith(LOCALHOST)) checkLocalDescending(out, profile.slice(LOCALHOST.length), at);
  else out.invalid(at, profile, 'must be a valid seccomp profile');
}

function containerNames(spec: Json, at: Path): Set<string> {
  const names = new Set<string>();
  visitContainers(spec, at, (container) => void names.add(container.name ?? ''));
  return names;
}

function checkAppArmorAnnotation(out: Findings, key: string, profile: string, names: Set<string>, at: Path): void {
  const name = key.slice(APPARMOR.length);
  if (!names.has(name)) out.invalid(at.key(key), name, 'container not found');
  const known = profile === '' || profile === 'runtime/default' || profile === 'unconfined' || profile.startsWith(LOCALHOST);
  if (!known) out.invalid(at.key(key), profile, `invalid AppArmor profile name: ${quote(profile)}`);
}

export function checkPodAnnotationUpdates(out: Findings, next: Annotations, old: Annotations, at: Path): void {
  for (const key in old) {
    if (next?.[key] === old[key]) continue;
    if (key.startsWith(APPARMOR)) out.forbidden(at.key(key), 'may not remove or update AppArmor annotations');
    if (key === MIRROR_POD) out.forbidden(at.key(key), 'may not remove or update mirror pod annotation');
  }
  for (const key in next) {
    if (old?.[key] !== undefined) continue;
    if (key.startsWith(APPARMOR)) out.forbidden(at.key(key), 'may not add AppArmor annotations');
    if (key === MIRROR_POD) out.forbidden(at.key(key), 'may not add mirror pod annotation');
  }
}

/** A profile in a field and one in the annotation it replaces must say the same. */
function checkProfilesMatch(out: Findings, annotation: string, profile: Json, defaults: string[], kind: string, at: Path): void {
  const typeMismatch = `${kind} type in annotation and field must match`;
  switch (profile.type) {
    case 'Unconfined':
      if (annotation !== 'unconfined') out.forbidden(at.child('type'), typeMismatch);
      return;
    case 'RuntimeDefault':
      if (!defaults.includes(annotation)) out.forbidden(at.child('type'), typeMismatch);
      return;
    case 'Localhost':
      if (!annotation.startsWith(LOCALHOST)) out.forbidden(at.child('type'), typeMismatch);
      else if (annotation.slice(LOCALHOST.length) !== profile.localhostProfile) {
        out.forbidden(at.child('localhostProfile'), `${kind} profile in annotation and field must match`);
      }
  }
}

export function checkSeccompAnnotationsMatch(out: Findings, annotations: Annotations, spec: Json, at: Path): void {
  if (annotations === undefined) return;
  const defaults = ['runtime/default', 'docker/default'];
  const podProfile = spec.securityContext?.seccompProfile;
  if (podProfile !== undefined && annotations[SECCOMP_POD] !== undefined) {
    checkProfilesMatch(out, annotations[SECCOMP_POD], podProfile, defaults, 'seccomp', at.child('securityContext', 'seccompProfile'));
  }
  visitContainers(spec, at, (container, containerAt) => {
    const profile = container.securityContext?.seccompProfile;
    const annotation = annotations[SECCOMP_CONTAINER + (container.name ?? '')];
    if (profile === undefined || annotation === undefined) return;
    checkProfilesMatch(out, annotation, profile, defaults, 'seccomp', containerAt().child('securityContext', 'seccompProfile'));
  });
}

export function checkAppArmorAnnotationsMatch(out: Findings, annotations: Annotations, spec: Json, at: Path): void {
  if (annotations === undefined || spec.os?.name === 'windows') return;
  visitContainers(spec, at, (container, containerAt) => {
    const profile = container.securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile;
    const annotation = annotations[APPARMOR + (container.name ?? '')];
    if (profile === undefined || annotation === undefined) return;
    const profileAt = containerAt().child('securityContext', 'appArmorProfile');
    checkProfilesMatch(out, annotation, profile, ['runtime/default'], 'apparmor', profileAt);
  });
}
