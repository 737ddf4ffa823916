import { byteLength } from '../../../../kube/go-text.ts';
import { isDns1123Subdomain, isQualifiedName } from '../../../../kube/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { deepEqual, semanticEqual } from '../equality.ts';
import type { Findings } from '../findings.ts';
import { checkImmutable, FIELD_IMMUTABLE } from '../formats.ts';
import { selectorForm } from '../internal-form.ts';
import { checkLabelName, checkLabelSelector, hasInvalidSelectorValue } from '../labels.ts';
import { path, type Path } from '../path.ts';
import { checkNonnegativeQuantity } from '../quantities.ts';

const MAX_PARAMETERS = 512;
const MAX_PARAMETERS_SIZE = 256 * 1024;
const RECLAIM_POLICIES = ['Delete', 'Retain'];
const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer'];

export function validateStorageClass(out: Findings, storageClass: KubeObject, old: KubeObject | undefined): void {
  const { provisioner = '', parameters, reclaimPolicy, volumeBindingMode: mode } = storageClass;
  checkProvisioner(out, provisioner, path('provisioner'));
  checkParameters(out, parameters ?? {}, path('parameters'));
  if (reclaimPolicy && !RECLAIM_POLICIES.includes(reclaimPolicy)) out.notSupported(path('reclaimPolicy'), reclaimPolicy, RECLAIM_POLICIES);
  if (mode === undefined) out.required(path('volumeBindingMode'));
  else if (!BINDING_MODES.includes(mode)) out.notSupported(path('volumeBindingMode'), mode, BINDING_MODES);
  checkTopologies(out, storageClass.allowedTopologies ?? [], path('allowedTopologies'));
  if (old === undefined) return;
  const fixed = (field: string, same: boolean): void => {
    if (!same) out.forbidden(path(field), `updates to ${field} are forbidden.`);
  };
  fixed('parameters', deepEqual(parameters, old.parameters));
  fixed('provisioner', provisioner === (old.provisioner ?? ''));
  fixed('reclaimPolicy', reclaimPolicy === old.reclaimPolicy);
  checkImmutable(out, mode, old.volumeBindingMode, path('volumeBindingMode'));
}

function checkProvisioner(out: Findings, provisioner: string, at: Path): void {
  if (provisioner === '') return out.required(at);
  const lower = provisioner.toLowerCase();
  out.invalidEach(at, lower, isQualifiedName(lower));
}

function checkParameters(out: Findings, parameters: Record<string, string>, at: Path): void {
  const entries = Object.entries(parameters);
  if (entries.length > MAX_PARAMETERS) return out.tooLong(at, MAX_PARAMETERS);
  let size = 0;
  for (const [key, value] of entries) {
    if (key === '') out.invalid(at, key, 'field can not be empty.');
    size += byteLength(key) + byteLength(value);
  }
  if (size > MAX_PARAMETERS_SIZE) out.tooLong(at, MAX_PARAMETERS_SIZE);
}

function checkTopologies(out: Findings, topologies: Json[], at: Path): void {
  const seen = new Map<string, number>();
  topologies.forEach((term, i) => {
    const values = checkTopologyTerm(out, term, at.index(i).child('matchLabelExpressions'));
    const identity = JSON.stringify([...values].sort(([a], [b]) => (a < b ? -1 : 1)));
    // Upstream compares with nil entries for every term as well, which only an empty term equals.
    const repeats = (values.size === 0 ? topologies.length : 0) + (seen.get(identity) ?? 0);
    for (let n = 0; n < repeats; n++) out.duplicate(at.index(i).child('matchLabelExpressions'), '');
    seen.set(identity, (seen.get(identity) ?? 0) + 1);
  });
}

function checkTopologyTerm(out: Findings, term: Json, at: Path): Map<string, string[]> {
  const found = new Map<string, string[]>();
  (term.matchLabelExpressions ?? []).forEach(({ key = '', values = [] }: Json, i: number) => {
    const valuesAt = at.index(i).child('values');
    if (values.length === 0) out.required(valuesAt);
    const seen = new Set<string>();
    values.forEach((value: string, j: number) => {
      if (seen.has(value)) out.duplicate(valuesAt.index(j), value);
      seen.add(value);
    });
    checkLabelName(out, key, at.index(i).child('key'));
    if (found.has(key)) out.duplicate(at.index(i).child('key'), key);
    found.set(key, [...seen].sort());
  });
  return found;
}

export function validateVolumeAttributesClass(out: Findings, object: KubeObject, old: KubeObject | undefined): void {
  const { driverName = '', parameters } = object;
  if (old !== undefined) {
    if (driverName !== (old.driverName ?? '')) out.forbidden(path('driverName'), 'updates to driverName are forbidden.');
    if (!deepEqual(parameters, old.parameters)) out.forbidden(path('parameters'), 'updates to parameters are forbidden.');
  }
  checkProvisioner(out, driverName, path('driverName'));
  checkParameters(out, parameters ?? {}, path('parameters'));
  if (Object.keys(parameters ?? {}).length === 0) out.required(path('parameters'), 'must contain at least one key/value pair');
}

export function validateCsiStorageCapacity(out: Findings, object: KubeObject, old: KubeObject | undefined): void {
  const { nodeTopology, storageClassName = '', capacity } = object;
  const allowInvalidValues = hasInvalidSelectorValue(old?.nodeTopology);
  checkLabelSelector(out, nodeTopology, path('nodeTopology'), { allowInvalidValues });
  out.invalidEach(path('storageClassName'), storageClassName, isDns1123Subdomain(storageClassName));
  if (capacity !== undefined) checkNonnegativeQuantity(out, capacity, path('capacity'));
  if (old === undefined) return;
  if (!semanticEqual('LabelSelector', nodeTopology, old.nodeTopology))
    out.invalid(path('nodeTopology'), selectorForm(nodeTopology), FIELD_IMMUTABLE);
  if (storageClassName !== (old.storageClassName ?? '')) out.invalid(path('storageClassName'), storageClassName, FIELD_IMMUTABLE);
}
