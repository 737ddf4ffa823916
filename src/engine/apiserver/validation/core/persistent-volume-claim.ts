import { isQualifiedName } from '../../../../kube/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { semanticEqual } from '../equality.ts';
import { Findings } from '../findings.ts';
import { checkImmutable, FIELD_IMMUTABLE } from '../formats.ts';
import { internalForm } from '../internal-form.ts';
import { checkLabelSelector } from '../labels.ts';
import { objectDiff } from '../object-diff.ts';
import { path, type Path } from '../path.ts';
import { checkBasicQuantity, checkResourceQuantity, compareQuantities } from '../quantities.ts';
import { isNativeResource } from '../resource-names.ts';
import { checkClaimSpec, type ClaimOptions } from './claim-spec.ts';

const SPEC = path('spec');
const STATUS = path('status');
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

export function validatePersistentVolumeClaim(out: Findings, claim: KubeObject, old: KubeObject | undefined, subresource: string): void {
  if (subresource === 'status' && old !== undefined) return checkStatus(out, claim);
  checkClaimSpec(out, claim.spec ?? {}, SPEC, optionsFor(old?.spec));
  if (old !== undefined) checkUpdate(out, claim, old);
}

function optionsFor(old: Json): ClaimOptions {
  if (old === undefined) return {};
  const findings = new Findings();
  checkLabelSelector(findings, old.selector, SPEC);
  return {
    allowInvalidSelectorValues: findings.count > 0,
    allowInvalidDataSourceGroup: old.dataSource?.apiGroup !== undefined || old.dataSourceRef?.apiGroup !== undefined,
  };
}

function checkUpdate(out: Findings, claim: KubeObject, old: KubeObject): void {
  const [spec, oldSpec] = [claim.spec ?? {}, old.spec ?? {}];
  const [munged, mungedOld] = mungedSpecs(out, claim, old);
  if (!semanticEqual('PersistentVolumeClaimSpec', munged, mungedOld)) {
    const print = (s: Json): Json => internalForm('PersistentVolumeClaimSpec', s);
    const except = 'resources.requests and volumeAttributesClassName for bound claims';
    out.forbidden(SPEC, `spec is immutable after creation except ${except}\n${objectDiff(print(mungedOld), print(munged))}`);
  }
  checkShrinking(out, spec.resources?.requests?.storage, oldSpec.resources?.requests?.storage, old.status?.capacity?.storage);
  checkImmutable(out, spec.volumeMode, oldSpec.volumeMode, path('volumeMode'));
  checkAttributesClass(out, spec.volumeAttributesClassName, oldSpec.volumeAttributesClassName, old.status ?? {});
}

/** Both specs with everything that may change made equal. */
function mungedSpecs(out: Findings, claim: KubeObject, old: KubeObject): [Json, Json] {
  const munged: Json = { ...claim.spec };
  const mungedOld: Json = { ...old.spec };
  if (!mungedOld.volumeName) mungedOld.volumeName = munged.volumeName;
  const [annotation, oldAnnotation] = [claim.metadata.annotations?.[CLASS_ANNOTATION], old.metadata.annotations?.[CLASS_ANNOTATION]];
  const [name, oldName]: (string | undefined)[] = [munged.storageClassName, mungedOld.storageClassName];
  const fromAnnotation =
    oldAnnotation !== undefined &&
    oldName === undefined &&
    name === oldAnnotation &&
    (annotation === undefined || annotation === oldAnnotation);
  if (fromAnnotation) munged.storageClassName = undefined;
  else {
    if ((annotation ?? '') !== (oldAnnotation ?? '')) {
      out.invalid(path('metadata', 'annotations', CLASS_ANNOTATION), annotation ?? '', FIELD_IMMUTABLE);
    }
    const fromNothing = name !== undefined && oldName === undefined && (oldAnnotation === undefined || name === oldAnnotation);
    if (fromNothing) munged.storageClassName = oldName;
  }
  if (claim.status?.phase === 'Bound') {
    const { requests } = munged.resources ?? {};
    if (requests !== undefined) {
      const storage = old.spec?.resources?.requests?.storage ?? '0';
      munged.resources = { ...munged.resources, requests: { ...requests, storage } };
    }
    munged.volumeAttributesClassName = mungedOld.volumeAttributesClassName;
  }
  return [munged, mungedOld];
}

function checkShrinking(out: Findings, size: string | undefined, old: string | undefined, actual: string | undefined): void {
  if (compareQuantities(size ?? '0', old ?? '0') >= 0) return;
  if (compareQuantities(size ?? '0', actual ?? '0') <= 0) {
    out.forbidden(SPEC.child('resources', 'requests', 'storage'), 'field can not be less than status.capacity');
  }
}

function checkAttributesClass(out: Findings, name: string | undefined, old: string | undefined, oldStatus: Json): void {
  if (name === old || oldStatus.currentVolumeAttributesClassName === undefined) return;
  const at = SPEC.child('volumeAttributesClassName');
  const detail = 'is forbidden when status.currentVolumeAttributesClassName is not nil';
  if (name === undefined) out.forbidden(at, `update to nil ${detail}`);
  else if (name === '') out.forbidden(at, `update to empty string ${detail}`);
}

const RESIZE_STATUSES = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
].sort();

function checkResourceKey(out: Findings, key: string, at: Path): boolean {
  const messages = isQualifiedName(key);
  out.invalidEach(at, key, messages);
  if (messages.length > 0) return false;
  if (!isNativeResource(key) || key === 'storage') return true;
  out.notSupported(at, key, ['storage']);
  return false;
}

function checkStatus(out: Findings, claim: KubeObject): void {
  const status = claim.status ?? {};
  if ((claim.spec?.accessModes ?? []).length === 0) out.required(path('Spec', 'accessModes'));
  for (const name in status.capacity) checkBasicQuantity(out, status.capacity[name], STATUS.child('capacity').key(name));
  const statusesAt = STATUS.child('allocatedResourceStatuses');
  for (const name in status.allocatedResourceStatuses) {
    checkResourceKey(out, name, statusesAt);
    if (!RESIZE_STATUSES.includes(status.allocatedResourceStatuses[name])) out.notSupported(statusesAt, name, RESIZE_STATUSES);
  }
  const allocatedAt = STATUS.child('allocatedResources');
  for (const name in status.allocatedResources) {
    if (!checkResourceKey(out, name, allocatedAt)) continue;
    const before = out.count;
    checkBasicQuantity(out, status.allocatedResources[name], allocatedAt.key(name));
    if (out.count === before) checkResourceQuantity(out, 'storage', status.allocatedResources[name], allocatedAt.key(name));
  }
}
