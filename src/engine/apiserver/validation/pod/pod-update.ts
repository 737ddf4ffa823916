import { quote } from '../../../../kube/go-text.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Sliced } from '../../schema/slices.ts';
import { deepEqual, sameForm, semanticEqual } from '../equality.ts';
import type { Findings } from '../findings.ts';
import { internalForm, internalForms, mapForm } from '../internal-form.ts';
import { objectDiff, objectDiffSteps } from '../object-diff.ts';
import { path, type Path } from '../path.ts';
import { checkPodAnnotations, checkPodAnnotationUpdates, MIRROR_POD } from './annotations.ts';
import { checkImageSpaces } from './containers.ts';
import type { PodOptions } from './options.ts';
import { checkTolerations } from './tolerations.ts';

const SPEC = path('spec');
const ANNOTATIONS = path('metadata', 'annotations');
const MAX_INT32 = 2147483647;
const UPDATABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

export function* checkPodUpdate(out: Findings, pod: KubeObject, old: KubeObject, options: PodOptions): Sliced<void> {
  const [spec, oldSpec] = [pod.spec ?? {}, old.spec ?? {}];
  checkPodAnnotationUpdates(out, pod.metadata.annotations, old.metadata.annotations, ANNOTATIONS);
  checkPodAnnotations(out, pod.metadata.annotations, spec, ANNOTATIONS, options);
  if (!checkSameContainers(out, spec.containers, oldSpec.containers, SPEC.child('containers'))) return;
  if (!checkSameContainers(out, spec.initContainers, oldSpec.initContainers, SPEC.child('initContainers'))) return;
  if (!checkActiveDeadline(out, spec.activeDeadlineSeconds, oldSpec.activeDeadlineSeconds)) return;
  checkOnlyAddedTolerations(out, spec.tolerations ?? [], oldSpec.tolerations ?? [], SPEC.child('tolerations'), options);
  checkOnlyDeletedGates(out, spec.schedulingGates ?? [], oldSpec.schedulingGates ?? []);
  if (!deepEqual(spec, oldSpec)) yield* checkUpdatableFields(out, spec, oldSpec);
}

function* checkUpdatableFields(out: Findings, spec: Json, oldSpec: Json): Sliced<void> {
  const before = internalForm('PodSpec', oldSpec);
  yield;
  if (sameForm(internalForm('PodSpec', spec), before)) return;
  yield;
  const munged = withUpdatableFieldsOf(spec, oldSpec);
  if ((oldSpec.schedulingGates ?? []).length > 0) checkGatedPlacement(out, munged, oldSpec);
  if (deepEqual(munged, oldSpec)) return;
  yield;
  const after = internalForm('PodSpec', munged);
  if (sameForm(after, before)) return;
  yield;
  const diff = yield* objectDiffSteps(before, after);
  out.forbidden(SPEC, `pod updates may not change fields other than ${UPDATABLE}\n${diff}`);
}

/** @returns whether it makes sense to look further. */
function checkSameContainers(out: Findings, containers: Json[] = [], old: Json[] = [], at: Path): boolean {
  if (containers.length !== old.length) {
    out.forbidden(at, 'pod updates may not add or remove containers');
    return false;
  }
  containers.forEach((container, i) => {
    if (!container.image) out.required(at.index(i).child('image'));
    checkImageSpaces(out, container, at.index(i));
  });
  return true;
}

function checkActiveDeadline(out: Findings, deadline: number | undefined, old: number | undefined): boolean {
  const at = SPEC.child('activeDeadlineSeconds');
  if (deadline === undefined) {
    if (old !== undefined) out.invalid(at, null, 'must not update from a positive integer to nil value');
    return true;
  }
  if (deadline < 0 || deadline > MAX_INT32) {
    out.invalid(at, deadline, `must be between 0 and ${MAX_INT32}, inclusive`);
    return false;
  }
  if (old === undefined || old >= deadline) return true;
  out.invalid(at, deadline, 'must be less than or equal to previous value');
  return false;
}

function checkOnlyAddedTolerations(out: Findings, tolerations: Json[], old: Json[], at: Path, options: PodOptions): void {
  const identity = ({ key = '', operator = '', value = '', effect = '' }: Json): string => JSON.stringify([key, operator, value, effect]);
  const now = new Set(tolerations.map(identity));
  if (!old.every((toleration) => now.has(identity(toleration)))) {
    return out.forbidden(at, 'existing toleration can not be modified except its tolerationSeconds');
  }
  checkTolerations(out, tolerations, at, options);
}

function checkOnlyDeletedGates(out: Findings, gates: Json[], old: Json[]): void {
  const known = new Set(old.map((gate) => gate.name ?? ''));
  const added = new Map<string, number>();
  gates.forEach(({ name = '' }, i) => {
    if (!known.has(name)) added.set(name, i);
  });
  for (const [name, i] of added) {
    const at = SPEC.child('schedulingGates').index(i).child('name');
    out.forbidden(at, `only deletion is allowed, but found new scheduling gate '${name}'`);
  }
}

/** The new spec with everything that may change set back, so that what is left must be equal. */
function withUpdatableFieldsOf(spec: Json, old: Json): Json {
  const withOldImages = (field: string): Json[] | undefined =>
    spec[field]?.map((container: Json, i: number) => ({ ...container, image: old[field][i].image }));
  const { schedulingGates, tolerations, activeDeadlineSeconds } = old;
  const munged = { ...spec, schedulingGates, tolerations, activeDeadlineSeconds };
  munged.containers = withOldImages('containers');
  munged.initContainers = withOldImages('initContainers');
  if (old.terminationGracePeriodSeconds < 0 && spec.terminationGracePeriodSeconds === 1) {
    munged.terminationGracePeriodSeconds = old.terminationGracePeriodSeconds;
  }
  return munged;
}

/** A Pod that is held back by gates may still be narrowed down to fewer nodes. */
function checkGatedPlacement(out: Findings, munged: Json, old: Json): void {
  if (!deepEqual(munged.nodeSelector ?? {}, old.nodeSelector ?? {})) {
    const kept = Object.entries(old.nodeSelector ?? {}).every(([key, value]) => munged.nodeSelector?.[key] === value);
    if (!kept) {
      const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
      out.invalid(SPEC.child('nodeSelector'), mapForm(munged.nodeSelector), detail);
    }
    munged.nodeSelector = old.nodeSelector;
  }
  const oldAffinity = old.affinity?.nodeAffinity;
  if (deepEqual(oldAffinity, munged.affinity?.nodeAffinity)) return;
  checkNodeAffinityMutation(out, munged.affinity?.nodeAffinity, oldAffinity);
  const { nodeAffinity: _, ...rest } = munged.affinity ?? {};
  if (munged.affinity === undefined) munged.affinity = { nodeAffinity: oldAffinity };
  else if (old.affinity === undefined && rest.podAffinity === undefined && rest.podAntiAffinity === undefined) delete munged.affinity;
  else munged.affinity = { ...rest, nodeAffinity: oldAffinity };
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

function checkNodeAffinityMutation(out: Findings, affinity: Json, old: Json): void {
  if (old?.[REQUIRED] === undefined) return;
  const at = SPEC.child('affinity', 'nodeAffinity', REQUIRED, 'nodeSelectorTerms');
  const oldTerms: Json[] = old[REQUIRED].nodeSelectorTerms ?? [];
  const served: Json[] | undefined = affinity?.[REQUIRED]?.nodeSelectorTerms;
  const terms = served ?? [];
  if (oldTerms.length > 0 && oldTerms.length !== terms.length) {
    return out.invalid(
      at,
      internalForms('NodeSelectorTerm', served),
      'no additions/deletions to non-empty NodeSelectorTerms list are allowed',
    );
  }
  oldTerms.forEach((oldTerm, i) => {
    if (hasOnlyAdditions(terms[i], oldTerm)) return;
    out.invalid(at.index(i), internalForm('NodeSelectorTerm', terms[i]), 'only additions are allowed (no mutations or deletions)');
  });
}

function hasOnlyAdditions(term: Json, old: Json): boolean {
  const parts = ['matchExpressions', 'matchFields'];
  if (parts.every((part) => (old[part] ?? []).length === 0)) return parts.every((part) => (term[part] ?? []).length === 0);
  return parts.every((part) => deepEqual((term[part] ?? []).slice(0, (old[part] ?? []).length), old[part] ?? []));
}

export function checkEphemeralContainersUpdate(out: Findings, pod: KubeObject, old: KubeObject, options: PodOptions): void {
  checkPodAnnotationUpdates(out, pod.metadata.annotations, old.metadata.annotations, ANNOTATIONS);
  checkPodAnnotations(out, pod.metadata.annotations, pod.spec ?? {}, ANNOTATIONS, options);
  if (old.metadata.annotations?.[MIRROR_POD] !== undefined) {
    out.list.length = 0;
    return out.forbidden(path(''), 'static pods do not support ephemeral containers');
  }
  const at = SPEC.child('ephemeralContainers');
  const byName = new Map<string, Json>((pod.spec?.ephemeralContainers ?? []).map((c: Json) => [c.name ?? '', c]));
  for (const container of old.spec?.ephemeralContainers ?? []) {
    const next = byName.get(container.name ?? '');
    if (next === undefined) out.forbidden(at, `existing ephemeral containers ${quote(container.name ?? '')} may not be removed\n`);
    else if (!semanticEqual('EphemeralContainer', container, next)) {
      const diff = objectDiff(internalForm('EphemeralContainer', container), internalForm('EphemeralContainer', next));
      out.forbidden(at, `existing ephemeral containers ${quote(container.name ?? '')} may not be changed\n${diff}`);
    }
  }
}
