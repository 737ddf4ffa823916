import { invalid, type FieldError } from '../../../../kube/field-error.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { badRequestError, invalidError, type StatusError } from '../../../../kube/status.ts';
import type { Attributes, Authorizer, UserInfo } from '../user.ts';
import { selectorFindings, selectorParseErrors } from './review-selectors.ts';

export interface ReviewContext {
  /** Who asks. */
  user: UserInfo;
  /** From the path; '' for reviews that are not of a namespace. */
  namespace: string;
  authorizer: Authorizer;
}

/** May this user or group do that? */
export function subjectAccessReview(review: KubeObject, context: ReviewContext): KubeObject {
  const findings = [...specFindings(review.spec), ...subjectFindings(review.spec), ...metadataFindings(review, false)];
  if (findings.length > 0) throw invalidReview(findings);
  return answered(review, subjectOf(review.spec), context);
}

/** The same within one namespace, for those who may ask about it alone. */
export function localSubjectAccessReview(review: KubeObject, context: ReviewContext): KubeObject {
  const { spec } = review;
  const findings = [...specFindings(spec), ...subjectFindings(spec), ...metadataFindings(review, true)];
  const namespace = review.metadata?.namespace ?? '';
  const asked: string = spec?.resourceAttributes?.namespace ?? '';
  if (spec?.resourceAttributes && asked !== namespace) {
    findings.push(invalid('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace'));
  }
  if (spec?.nonResourceAttributes) {
    findings.push(invalid('spec.nonResourceAttributes', printedPath(spec.nonResourceAttributes), 'disallowed on this kind of request'));
  }
  if (findings.length > 0) throw invalidReview(findings);
  if (context.namespace !== namespace) {
    throw badRequestError(`spec.resourceAttributes.namespace must match namespace: ${context.namespace}`);
  }
  return answered(review, subjectOf(spec), context);
}

/** May I? */
export function selfSubjectAccessReview(review: KubeObject, context: ReviewContext): KubeObject {
  const findings = [...specFindings(review.spec), ...metadataFindings(review, false)];
  if (findings.length > 0) throw invalidReview(findings);
  return answered(review, context.user, context);
}

function answered(review: KubeObject, user: UserInfo, { authorizer }: ReviewContext): KubeObject {
  const decision = authorizer.authorize(attributesOf(review.spec, user));
  const status: Json = { allowed: decision.allowed };
  if (decision.reason !== '') status.reason = decision.reason;
  const evaluationError = selectorParseErrors(review.spec.resourceAttributes).join('; ');
  if (evaluationError !== '') status.evaluationError = evaluationError;
  return { ...review, status };
}

function attributesOf({ resourceAttributes, nonResourceAttributes }: Json, user: UserInfo): Attributes {
  if (!resourceAttributes) return { user, verb: nonResourceAttributes.verb ?? '', path: nonResourceAttributes.path ?? '' };
  const { verb = '', group = '', version = '', resource = '', subresource = '', namespace = '', name = '' } = resourceAttributes;
  return { user, verb, group, version: version === '' ? '*' : version, resource, subresource, namespace, name };
}

function subjectOf({ user = '', groups = [], uid, extra }: Json): UserInfo {
  return { name: user, groups, uid, extra };
}

function specFindings(spec: Json = {}): FieldError[] {
  const findings: FieldError[] = [];
  const { resourceAttributes, nonResourceAttributes } = spec;
  if (resourceAttributes && nonResourceAttributes) {
    const detail = 'cannot be specified in combination with resourceAttributes';
    findings.push(invalid('spec.nonResourceAttributes', printedPath(nonResourceAttributes), detail));
  }
  if (!resourceAttributes && !nonResourceAttributes) {
    findings.push(invalid('spec.resourceAttributes', null, 'exactly one of nonResourceAttributes or resourceAttributes must be specified'));
  }
  return [...findings, ...selectorFindings(resourceAttributes)];
}

function subjectFindings({ user = '', groups = [] }: Json = {}): FieldError[] {
  return user === '' && groups.length === 0 ? [invalid('spec.user', '', 'at least one of user or group must be specified')] : [];
}

function metadataFindings({ metadata }: KubeObject, allowNamespace: boolean): FieldError[] {
  const { managedFields: _, ...rest } = metadata ?? {};
  const { namespace, ...others } = rest;
  const counted = allowNamespace ? others : namespace ? rest : others;
  if (Object.keys(counted).length === 0) return [];
  return [invalid('metadata', rest, allowNamespace ? 'must be empty except for namespace' : 'must be empty')];
}

/** As kube-apiserver prints the struct that it holds it in. */
function printedPath({ path = '', verb = '' }: Json): Json {
  return { Path: path, Verb: verb };
}

/** kube-apiserver has forgotten the kind by then. */
function invalidReview(findings: FieldError[]): StatusError {
  const error = invalidError({ group: 'authorization.k8s.io', kind: '' }, '', findings);
  delete error.status.details?.kind;
  return error;
}
