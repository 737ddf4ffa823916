import { quote } from '../../../../kube/go-text.ts';
import { deepEqual } from '../../../../kube/json-value.ts';
import type { GroupResource, KubeObject } from '../../../../kube/object.ts';
import { failure, forbiddenError, notFoundError } from '../../../../kube/status.ts';
import { quotedList } from '../authentication/token-authenticator.ts';
import { SUPERUSER_GROUP, type PolicyRule, type UserInfo } from '../user.ts';
import type { RoleRef } from './bindings.ts';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, RBAC_GROUP, ROLE_BINDINGS, ROLES } from './policy-index.ts';
import type { RbacAuthorizer } from './rbac-authorizer.ts';
import { missingRules, missingText, TooManyRules } from './rule-cover.ts';

/** A write of a role or binding, as the checks below look at it. */
export interface PolicyWrite {
  user: UserInfo;
  /** The name in the request's path: '' on a create. */
  requestName: string;
  /** '' for ClusterRoles and ClusterRoleBindings. */
  namespace: string;
  object: KubeObject;
  /** Absent on a create. */
  old?: KubeObject;
}

type Rules = Pick<RbacAuthorizer, 'authorize' | 'resolveRules' | 'rulesOfRole'>;

const FULL_AUTHORITY: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/** Nobody writes a role that allows more than they may do themselves, unless they may `escalate`. @throws StatusError Forbidden */
export function checkRoleEscalation(rules: Rules, write: PolicyWrite): void {
  const { user, object, old, namespace } = write;
  const resource = object.kind === 'ClusterRole' ? CLUSTER_ROLES : ROLES;
  if (isSuperuser(user) || mayEscalate(rules, write, resource)) return;
  if (old && changesOnlyOwnership(object, old)) return;
  confirmHeld(rules, user, namespace, (object.rules as PolicyRule[] | undefined) ?? [], resource, object);
  if (!aggregates(object) && !(old && aggregates(old))) return;
  // Aggregation can gather anything, now or later.
  if (missingRules(rules.resolveRules(user, namespace).rules, FULL_AUTHORITY).length > 0) {
    throw forbiddenError(resource, object.metadata.name ?? '', 'must have cluster-admin privileges to use the aggregationRule');
  }
}

/** Nobody binds a role that allows more than they may do themselves, unless they may `bind` it. @throws StatusError Forbidden, NotFound */
export function checkBindingEscalation(rules: Rules, write: PolicyWrite): void {
  const { user, object, old, namespace } = write;
  if (isSuperuser(user) || (old && changesOnlyOwnership(object, old))) return;
  const resource = object.kind === 'ClusterRoleBinding' ? CLUSTER_ROLE_BINDINGS : ROLE_BINDINGS;
  const roleRef = object.roleRef as RoleRef;
  if (mayBind(rules, user, roleRef, namespace)) return;
  const granted = rules.rulesOfRole(roleRef, namespace);
  if (typeof granted === 'string') throw missingRole(resource, roleRef, granted);
  confirmHeld(rules, user, namespace, granted, resource, object);
}

function isSuperuser(user: UserInfo): boolean {
  return user.groups.includes(SUPERUSER_GROUP);
}

function mayEscalate(rules: Rules, { user, requestName, namespace }: PolicyWrite, { group, resource }: GroupResource): boolean {
  return rules.authorize({ user, verb: 'escalate', group, version: '*', resource, name: requestName, namespace }).allowed;
}

function mayBind(rules: Rules, user: UserInfo, roleRef: RoleRef, namespace: string): boolean {
  const resource = { ClusterRole: 'clusterroles', Role: 'roles' }[roleRef.kind];
  if (resource === undefined) return false;
  const group = roleRef.apiGroup ?? RBAC_GROUP;
  return rules.authorize({ user, verb: 'bind', group, version: '*', resource, name: roleRef.name, namespace }).allowed;
}

/** Kubernetes names the kind of the binding here, with the name of the role. */
function missingRole(resource: GroupResource, roleRef: RoleRef, reason: string): Error {
  const isRole = roleRef.kind === 'ClusterRole' || roleRef.kind === 'Role';
  return isRole ? notFoundError(resource, roleRef.name) : failure('', reason, undefined, 500);
}

function confirmHeld(
  rules: Rules,
  user: UserInfo,
  namespace: string,
  wanted: readonly PolicyRule[],
  resource: GroupResource,
  object: KubeObject,
): void {
  const held = rules.resolveRules(user, namespace);
  const refuse = (message: string): Error => forbiddenError(resource, object.metadata.name ?? '', message);
  let missing: PolicyRule[];
  try {
    missing = missingRules(held.rules, wanted);
  } catch (error) {
    throw error instanceof TooManyRules ? refuse(error.message) : error;
  }
  if (missing.length === 0) return;
  const who = `user ${quote(user.name)} (groups=${quotedList(user.groups)})`;
  let message = `${who} is attempting to grant RBAC permissions not currently held:\n${missingText(missing)}`;
  if (held.errors.length > 0) message += `; resolution errors: [${held.errors.join(' ')}]`;
  throw refuse(message);
}

function aggregates(role: KubeObject): boolean {
  return (role.aggregationRule?.clusterRoleSelectors?.length ?? 0) > 0;
}

/** What the garbage collector edits on the way to deleting something gives nobody anything. */
function changesOnlyOwnership(object: KubeObject, old: KubeObject): boolean {
  return deepEqual(withoutOwnership(object), withoutOwnership(old));
}

function withoutOwnership(object: KubeObject): KubeObject {
  const { ownerReferences: _, finalizers: _f, selfLink: _s, managedFields: _m, resourceVersion: _r, ...metadata } = object.metadata;
  return { ...object, metadata };
}
