import { isLabelValue, isQualifiedName } from '../../../../kube/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { path, type Path } from '../path.ts';

/** Bodies of requests that are answered at once and never stored. */
const SPEC = path('spec');

export function validateTokenRequest(out: Findings, request: KubeObject): void {
  const seconds = request.spec?.expirationSeconds ?? 0;
  const at = SPEC.child('expirationSeconds');
  if (seconds < 600) out.invalid(at, seconds, 'may not specify a duration less than 10 minutes');
  if (seconds > 2 ** 32) out.invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds');
}

export function validateSubjectAccessReview(out: Findings, review: KubeObject): void {
  checkSpec(out, review.spec ?? {}, true);
  checkEmptyMetadata(out, review, [], 'must be empty');
}

export function validateSelfSubjectAccessReview(out: Findings, review: KubeObject): void {
  checkSpec(out, review.spec ?? {}, false);
  checkEmptyMetadata(out, review, [], 'must be empty');
}

export function validateLocalSubjectAccessReview(out: Findings, review: KubeObject): void {
  const spec = review.spec ?? {};
  checkSpec(out, spec, true);
  checkEmptyMetadata(out, review, ['namespace'], 'must be empty except for namespace');
  const namespace: string = spec.resourceAttributes?.namespace ?? '';
  if (spec.resourceAttributes !== undefined && namespace !== (review.metadata?.namespace ?? '')) {
    out.invalid(path('spec.resourceAttributes.namespace'), namespace, 'must match metadata.namespace');
  }
  if (spec.nonResourceAttributes !== undefined) {
    out.invalid(path('spec.nonResourceAttributes'), nonResourceForm(spec), 'disallowed on this kind of request');
  }
}

/** As Go holds it: its own names, nothing left out. */
function nonResourceForm(spec: Json): Json {
  if (spec.nonResourceAttributes === undefined) return null;
  const { path: url = '', verb = '' } = spec.nonResourceAttributes;
  return { Path: url, Verb: verb };
}

function checkSpec(out: Findings, spec: Json, namesUser: boolean): void {
  const { resourceAttributes: resource, nonResourceAttributes: nonResource } = spec;
  if (resource !== undefined && nonResource !== undefined) {
    out.invalid(SPEC.child('nonResourceAttributes'), nonResourceForm(spec), 'cannot be specified in combination with resourceAttributes');
  }
  if (resource === undefined && nonResource === undefined) {
    const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    out.invalid(SPEC.child('resourceAttributes'), null, detail);
  }
  if (namesUser && !spec.user && (spec.groups ?? []).length === 0) {
    out.invalid(SPEC.child('user'), '', 'at least one of user or group must be specified');
  }
  if (resource === undefined) return;
  checkSelector(out, resource.fieldSelector, path('spec.resourceAttributes', 'fieldSelector'), false);
  checkSelector(out, resource.labelSelector, path('spec.resourceAttributes', 'labelSelector'), true);
}

function checkSelector(out: Findings, selector: Json, at: Path, ofLabels: boolean): void {
  if (selector === undefined) return;
  const { rawSelector = '', requirements = [] } = selector;
  if (rawSelector !== '' && requirements.length > 0) {
    out.invalid(at.child('rawSelector'), rawSelector, 'may not specified at the same time as requirements');
  }
  if (rawSelector === '' && requirements.length === 0) {
    out.required(at.child('requirements'), `when ${at.toString()} is specified, requirements or rawSelector is required`);
  }
  requirements.forEach((requirement: Json, i: number) => checkRequirement(out, requirement, at.child('requirements').index(i), ofLabels));
}

/** Unknown operators are let through: the answer may come from a newer authorizer. */
function checkRequirement(out: Findings, { key = '', operator, values = [] }: Json, at: Path, ofLabels: boolean): void {
  if (!ofLabels && key === '') out.required(at.child('key'), 'must be specified');
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    out.required(at.child('values'), "must be specified when `operator` is 'In' or 'NotIn'");
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    out.forbidden(at.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  }
  if (!ofLabels) return;
  out.invalidEach(at.child('key'), key, isQualifiedName(key));
  values.forEach((value: string, i: number) => out.invalidEach(at.child('values').index(i), value, isLabelValue(value)));
}

function checkEmptyMetadata(out: Findings, review: KubeObject, allowed: string[], detail: string): void {
  const metadata: Json = review.metadata ?? {};
  const set = Object.keys(metadata).filter((key) => metadata[key] !== undefined && key !== 'managedFields' && !allowed.includes(key));
  const isEmpty = (value: Json): boolean => value === '' || value === 0 || (typeof value === 'object' && Object.keys(value).length === 0);
  if (set.some((key) => !isEmpty(metadata[key]))) out.invalid(path('metadata'), metadata, detail);
}
