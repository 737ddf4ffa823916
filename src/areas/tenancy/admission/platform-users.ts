import type { AdmissionReviewRequest } from '../../../runtime/admission/review.ts';

export type UserInfo = AdmissionReviewRequest['userInfo'];

export const OWN_CONTROLLERS = 'system:serviceaccounts:tenantry-system';

/** For webhooks that have nothing to say to our own controllers: the API server need not even ask. */
export const NOT_OUR_OWN = {
  name: 'not-our-own',
  expression: `!(has(request.userInfo.groups) && '${OWN_CONTROLLERS}' in request.userInfo.groups)`,
};

/** Members decide what admission lets others decide; everybody else is judged. */
const PLATFORM_GROUPS = new Set([
  'tenantry:platform',
  'system:masters',
  'system:nodes',
  'system:serviceaccounts:kube-system',
  OWN_CONTROLLERS,
]);

/** Kubernetes' own components, where they have certificates instead of service accounts. */
const PLATFORM_USERS = new Set(['system:kube-controller-manager', 'system:kube-scheduler', 'system:apiserver']);

export function isPlatform({ username = '', groups = [] }: UserInfo): boolean {
  return PLATFORM_USERS.has(username) || groups.some((group) => PLATFORM_GROUPS.has(group));
}

/** The controllers of this area and those that run beside them: the rules of the tree are theirs to keep, not to obey. */
export function isOwnController({ groups = [] }: UserInfo): boolean {
  return groups.includes(OWN_CONTROLLERS);
}

/** The namespace of a service account, by its user name. */
export function serviceAccountNamespace({ username = '' }: UserInfo): string | undefined {
  const match = /^system:serviceaccount:([^:]+):[^:]+$/.exec(username);
  return match?.[1];
}
