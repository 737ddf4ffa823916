import type { UserInfo } from '../user.ts';

const USER_PREFIX = 'system:serviceaccount:';
export const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

export interface ServiceAccountIdentity {
  namespace: string;
  name: string;
  uid?: string;
  pod?: { name: string; uid: string };
  node?: { name: string; uid?: string };
  credentialId?: string;
}

export function serviceAccountUserName(namespace: string, name: string): string {
  return `${USER_PREFIX}${namespace}:${name}`;
}

export function serviceAccountGroups(namespace: string): string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export function isServiceAccountName(userName: string): boolean {
  return userName.startsWith(USER_PREFIX);
}

/** Undefined when the user is no ServiceAccount. */
export function splitServiceAccountName(userName: string): { namespace: string; name: string } | undefined {
  if (!isServiceAccountName(userName)) return undefined;
  const parts = userName.slice(USER_PREFIX.length).split(':');
  const [namespace, name] = parts;
  if (parts.length !== 2 || !DNS_LABEL.test(namespace) || name.length > 253 || !DNS_SUBDOMAIN.test(name)) return undefined;
  return { namespace, name };
}

/** The user behind a ServiceAccount; with `system:authenticated`, as every user that proved who it is. */
export function serviceAccountUser(identity: ServiceAccountIdentity): UserInfo {
  const { namespace, name, uid, pod, node, credentialId } = identity;
  const user: UserInfo = {
    name: serviceAccountUserName(namespace, name),
    groups: [...serviceAccountGroups(namespace), 'system:authenticated'],
  };
  if (uid) user.uid = uid;
  const extra: Record<string, string[]> = {};
  if (pod) {
    extra['authentication.kubernetes.io/pod-name'] = [pod.name];
    extra['authentication.kubernetes.io/pod-uid'] = [pod.uid];
  }
  if (credentialId) extra[CREDENTIAL_ID] = [credentialId];
  if (node) {
    extra['authentication.kubernetes.io/node-name'] = [node.name];
    if (node.uid) extra['authentication.kubernetes.io/node-uid'] = [node.uid];
  }
  if (Object.keys(extra).length > 0) user.extra = extra;
  return user;
}
