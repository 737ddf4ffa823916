import { isDns1123Label, isDns1123Subdomain } from '../../../../kube/names.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkAnnotations, checkLabels, checkLabelSelector } from '../labels.ts';
import { checkPositiveQuantity, checkResourceQuantity } from '../quantities.ts';
import type { Path } from '../path.ts';

/** The spec of a PersistentVolumeClaim, also as a template in Pods and StatefulSets. */
export interface ClaimOptions {
  allowInvalidSelectorValues?: boolean;
  allowInvalidDataSourceGroup?: boolean;
}

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
export const VOLUME_MODES = ['Block', 'Filesystem'];

export function checkAccessModes(out: Findings, modes: string[], at: Path): void {
  let [oncePod, other] = [false, false];
  for (const mode of modes) {
    if (mode === 'ReadWriteOncePod') oncePod = true;
    else if (ACCESS_MODES.includes(mode)) other = true;
    else out.notSupported(at, mode, ACCESS_MODES);
  }
  if (oncePod && other) out.forbidden(at, 'may not use ReadWriteOncePod with other access modes');
}

export function checkClaimSpec(out: Findings, spec: Json, at: Path, options: ClaimOptions = {}): void {
  const modes: string[] = spec.accessModes ?? [];
  if (modes.length === 0) out.required(at.child('accessModes'), 'at least 1 access mode is required');
  checkLabelSelector(out, spec.selector, at.child('selector'), { allowInvalidValues: options.allowInvalidSelectorValues });
  checkAccessModes(out, modes, at.child('accessModes'));
  checkStorageRequest(out, spec.resources?.requests?.storage, at.child('resources').key('storage'));
  if (spec.storageClassName) {
    out.invalidEach(at.child('storageClassName'), spec.storageClassName, isDns1123Subdomain(spec.storageClassName));
  }
  if (spec.volumeMode !== undefined && !VOLUME_MODES.includes(spec.volumeMode)) {
    out.notSupported(at.child('volumeMode'), spec.volumeMode, VOLUME_MODES);
  }
  checkDataSources(out, spec, at, options);
  if (spec.volumeAttributesClassName) {
    const name: string = spec.volumeAttributesClassName;
    out.invalidEach(at.child('volumeAttributesClassName'), name, isDns1123Subdomain(name));
  }
}

function checkStorageRequest(out: Findings, storage: string | undefined, at: Path): void {
  if (storage === undefined) return out.required(at);
  const before = out.count;
  checkPositiveQuantity(out, storage, at);
  if (out.count === before) checkResourceQuantity(out, 'storage', storage, at);
}

function checkDataSources(out: Findings, spec: Json, at: Path, options: ClaimOptions): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined) checkDataSource(out, dataSource, at.child('dataSource'), options);
  if (dataSourceRef !== undefined) {
    checkDataSource(out, dataSourceRef, at.child('dataSourceRef'), options);
    const { namespace } = dataSourceRef;
    if (namespace) out.invalidEach(at.child('dataSourceRef', 'namespace'), namespace, isDns1123Label(namespace));
  }
  if (dataSource === undefined || dataSourceRef === undefined) return;
  // Upstream prints the path object itself, which has no exported fields.
  if (dataSourceRef.namespace) out.invalid(at, {}, 'may not be specified when dataSourceRef.namespace is specified');
  else {
    const same = (['apiGroup', 'kind', 'name'] as const).every((field) => dataSource[field] === dataSourceRef[field]);
    if (!same) out.invalid(at, {}, 'must match dataSourceRef');
  }
}

function checkDataSource(out: Findings, source: Json, at: Path, options: ClaimOptions): void {
  const { name, kind = '', apiGroup = '' } = source;
  if (!name) out.required(at.child('name'));
  if (kind === '') out.required(at.child('kind'));
  if (apiGroup === '' && kind !== 'PersistentVolumeClaim') {
    out.invalid(at, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
  if (apiGroup !== '' && !options.allowInvalidDataSourceGroup) {
    out.invalidEach(at.child('apiGroup'), apiGroup, isDns1123Subdomain(apiGroup));
  }
}

const METADATA_FIELDS = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
  'managedFields',
];

export function checkClaimTemplate(out: Findings, template: Json, at: Path): void {
  checkTemplateMetadata(out, template.metadata ?? {}, at.child('metadata'));
  checkClaimSpec(out, template.spec ?? {}, at.child('spec'));
}

/** Objects made from a template get labels and annotations from it, and nothing else. */
export function checkTemplateMetadata(out: Findings, metadata: Json, at: Path): void {
  checkAnnotations(out, metadata.annotations, at.child('annotations'));
  checkLabels(out, metadata.labels, at.child('labels'));
  for (const field of METADATA_FIELDS) {
    const value = metadata[field];
    if (value === undefined || value === '' || value === 0) continue;
    out.forbidden(at.child(field === 'uid' ? 'uID' : field), 'cannot be set');
  }
}
