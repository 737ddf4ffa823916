import type { KubeObject } from '../../../../kube/object.ts';
import { MemoryObjects } from '../testing-objects.ts';
import type { PolicyRule } from '../user.ts';
import type { RoleRef, Subject } from './bindings.ts';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, RBAC_GROUP, ROLE_BINDINGS, ROLES } from './policy-index.ts';

const API_VERSION = `${RBAC_GROUP}/v1`;

export const user = (name: string): Subject => ({ kind: 'User', name });
export const group = (name: string): Subject => ({ kind: 'Group', name });
export const serviceAccount = (name: string, namespace?: string): Subject => ({ kind: 'ServiceAccount', name, namespace });
export const clusterRole = (name: string): RoleRef => ({ apiGroup: RBAC_GROUP, kind: 'ClusterRole', name });
export const role = (name: string): RoleRef => ({ apiGroup: RBAC_GROUP, kind: 'Role', name });

export function clusterRoleObject(name: string, rules: PolicyRule[], more: Partial<KubeObject> = {}): KubeObject {
  return { apiVersion: API_VERSION, kind: 'ClusterRole', metadata: { name }, rules, ...more };
}

/** Roles and bindings in the fewest words, for tests. */
export class TestPolicy {
  readonly objects = new MemoryObjects();

  clusterRole(name: string, ...rules: PolicyRule[]): this {
    this.objects.put(CLUSTER_ROLES, clusterRoleObject(name, rules));
    return this;
  }

  role(namespace: string, name: string, ...rules: PolicyRule[]): this {
    this.objects.put(ROLES, { apiVersion: API_VERSION, kind: 'Role', metadata: { name, namespace }, rules });
    return this;
  }

  clusterBinding(name: string, roleRef: RoleRef, ...subjects: Subject[]): this {
    this.objects.put(CLUSTER_ROLE_BINDINGS, { apiVersion: API_VERSION, kind: 'ClusterRoleBinding', metadata: { name }, roleRef, subjects });
    return this;
  }

  binding(namespace: string, name: string, roleRef: RoleRef, ...subjects: Subject[]): this {
    this.objects.put(ROLE_BINDINGS, { apiVersion: API_VERSION, kind: 'RoleBinding', metadata: { name, namespace }, roleRef, subjects });
    return this;
  }
}
