import { isDns1123Label, isDns1123Subdomain, isLabelValue } from '../../../../kube/names.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkLabelName, checkLabelSelector } from '../labels.ts';
import type { Path } from '../path.ts';
import type { PodOptions } from './options.ts';
import { checkMatchLabelKeys } from './topology-spread.ts';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

export function checkAffinity(out: Findings, affinity: Json, at: Path, options: PodOptions): void {
  if (affinity === undefined) return;
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity;
  if (nodeAffinity !== undefined) checkNodeAffinity(out, nodeAffinity, at.child('nodeAffinity'), options);
  const allow = options.allowInvalidSelectorValues;
  if (podAffinity !== undefined) checkPodAffinity(out, podAffinity, allow, at.child('podAffinity'));
  if (podAntiAffinity !== undefined) checkPodAffinity(out, podAntiAffinity, allow, at.child('podAntiAffinity'));
}

function checkNodeAffinity(out: Findings, affinity: Json, at: Path, options: PodOptions): void {
  if (affinity[REQUIRED] !== undefined) {
    checkNodeSelector(out, affinity[REQUIRED], options.allowInvalidNodeAffinityValues, at.child(REQUIRED));
  }
  const preferred: Json[] = affinity[PREFERRED] ?? [];
  preferred.forEach((term, i) => {
    const itemAt = at.child(PREFERRED).index(i);
    checkWeight(out, term.weight, itemAt);
    checkNodeSelectorTerm(out, term.preference ?? {}, true, itemAt.child('preference'));
  });
}

function checkWeight(out: Findings, weight: number | undefined, at: Path): void {
  const value = weight ?? 0;
  if (value <= 0 || value > 100) out.invalid(at.child('weight'), value, 'must be in the range 1-100');
}

export function checkNodeSelector(out: Findings, selector: Json, allowInvalidValues: boolean, at: Path): void {
  const terms: Json[] = selector.nodeSelectorTerms ?? [];
  const termsAt = at.child('nodeSelectorTerms');
  if (terms.length === 0) return out.required(termsAt, 'must have at least one node selector term');
  terms.forEach((term, i) => checkNodeSelectorTerm(out, term, allowInvalidValues, termsAt.index(i)));
}

function checkNodeSelectorTerm(out: Findings, term: Json, allowInvalidValues: boolean, at: Path): void {
  (term.matchExpressions ?? []).forEach((requirement: Json, i: number) =>
    checkNodeRequirement(out, requirement, allowInvalidValues, at.child('matchExpressions').index(i)),
  );
  (term.matchFields ?? []).forEach((requirement: Json, i: number) =>
    checkNodeFieldRequirement(out, requirement, at.child('matchFields').index(i)),
  );
}

function checkNodeRequirement(out: Findings, requirement: Json, allowInvalidValues: boolean, at: Path): void {
  const { operator = '', key = '', values = [] } = requirement;
  const valuesAt = at.child('values');
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) out.required(valuesAt, "must be specified when `operator` is 'In' or 'NotIn'");
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) out.forbidden(valuesAt, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      break;
    case 'Gt':
    case 'Lt':
      if (values.length !== 1) out.required(valuesAt, "must be specified single value when `operator` is 'Lt' or 'Gt'");
      break;
    default:
      out.invalid(at.child('operator'), operator, 'not a valid selector operator');
  }
  checkLabelName(out, key, at.child('key'));
  if (allowInvalidValues) return;
  values.forEach((value: string, i: number) => out.invalidEach(valuesAt.index(i), value, isLabelValue(value)));
}

function checkNodeFieldRequirement(out: Findings, requirement: Json, at: Path): void {
  const { operator = '', key = '', values = [] } = requirement;
  if (operator !== 'In' && operator !== 'NotIn') out.invalid(at.child('operator'), operator, 'not a valid selector operator');
  else if (values.length !== 1) {
    out.required(at.child('values'), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
  }
  if (key !== 'metadata.name') return out.invalid(at.child('key'), key, 'not a valid field selector key');
  values.forEach((value: string, i: number) => out.invalidEach(at.child('values').index(i), value, isDns1123Subdomain(value)));
}

function checkPodAffinity(out: Findings, affinity: Json, allowInvalidValues: boolean, at: Path): void {
  (affinity[REQUIRED] ?? []).forEach((term: Json, i: number) =>
    checkPodAffinityTerm(out, term, allowInvalidValues, at.child(REQUIRED).index(i)),
  );
  (affinity[PREFERRED] ?? []).forEach((weighted: Json, i: number) => {
    const itemAt = at.child(PREFERRED).index(i);
    checkWeight(out, weighted.weight, itemAt);
    checkPodAffinityTerm(out, weighted.podAffinityTerm ?? {}, allowInvalidValues, itemAt.child('podAffinityTerm'));
  });
}

function checkPodAffinityTerm(out: Findings, term: Json, allowInvalidValues: boolean, at: Path): void {
  checkLabelSelector(out, term.labelSelector, at.child('labelSelector'), { allowInvalidValues });
  checkLabelSelector(out, term.namespaceSelector, at.child('namespaceSelector'), { allowInvalidValues });
  for (const name of term.namespaces ?? []) out.invalidEach(at.child('namespace'), name, isDns1123Label(name));
  checkMatchLabelKeys(out, term.matchLabelKeys, term.mismatchLabelKeys, term.labelSelector, at);
  const topologyKey: string = term.topologyKey ?? '';
  if (topologyKey === '') out.required(at.child('topologyKey'), 'can not be empty');
  checkLabelName(out, topologyKey, at.child('topologyKey'));
}
