import { conflictError, failure, forbiddenError, type StatusError } from '../../../../kube/status.ts';
import type { AdmissionVerdict } from '../../../../runtime/admission/review.ts';
import type { UserInfo } from '../platform-users.ts';

export const ALLOWED: AdmissionVerdict = { allowed: true };

const GROUP = 'hnc.x-k8s.io';
export const ANCHORS = { group: GROUP, resource: 'subnamespaceanchors' };
export const HIERARCHIES = { group: GROUP, resource: 'hierarchyconfigurations' };
export const NAMESPACES = { group: '', resource: 'namespaces' };

type Resource = Parameters<typeof forbiddenError>[0];

/** A refusal in the words of an API error, which is how HNC speaks. */
export function refused({ status }: StatusError): AdmissionVerdict {
  const { message = '', reason, code, details } = status;
  return { allowed: false, message, reason, code, ...(details ? { details } : {}) };
}

export function forbidden(resource: Resource, name: string, why: string): AdmissionVerdict {
  return refused(forbiddenError(resource, name, why));
}

export function conflict(resource: Resource, name: string, why: string): AdmissionVerdict {
  return refused(conflictError(resource, name, why));
}

export function unauthorized(message: string): AdmissionVerdict {
  return refused(failure('Unauthorized', message));
}

export function notYetSynced(namespace: string): AdmissionVerdict {
  return refused(failure('ServiceUnavailable', `HNC has not reconciled namespace "${namespace}" yet - please try again in a few moments.`));
}

const TREE_GROUP = 'system:serviceaccounts:tenantry-system';

/** The controllers of the tree: what they write follows from what was let through before. Everybody else is asked, admins included. */
export function isTreeItself({ groups = [] }: UserInfo): boolean {
  return groups.includes(TREE_GROUP);
}
