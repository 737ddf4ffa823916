import type { FieldError } from '../../../../kube/field-error.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { badRequestError, invalidError, type StatusError } from '../../../../kube/status.ts';
import type { Attributes, Authorizer, UserInfo } from '../user.ts';
import { selectorParseErrors } from './selector-errors.ts';

/** Reviews are validated before they come here. */
export interface ReviewContext {
  /** Who asks. */
  user: UserInfo;
  /** From the path; '' for reviews that are not of a namespace. */
  namespace: string;
  authorizer: Authorizer;
}

/** May this user or group do that? */
export function subjectAccessReview(review: KubeObject, context: ReviewContext): KubeObject {
  return answered(review, subjectOf(review.spec), context);
}

/** The same within one namespace, for those who may ask about it alone. */
export function localSubjectAccessReview(review: KubeObject, context: ReviewContext): KubeObject {
  if (context.namespace !== (review.metadata.namespace ?? '')) {
    throw badRequestError(`spec.resourceAttributes.namespace must match namespace: ${context.namespace}`);
  }
  return answered(review, subjectOf(review.spec), context);
}

/** May I? */
export function selfSubjectAccessReview(review: KubeObject, context: ReviewContext): KubeObject {
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

/** kube-apiserver has forgotten the kind when it refuses a review. */
export function invalidReview(findings: FieldError[]): StatusError {
  const error = invalidError({ group: 'authorization.k8s.io', kind: '' }, '', findings);
  delete error.status.details?.kind;
  return error;
}
