import type { KubeObject } from '../../kube/object.ts';
import { ownerRoles } from './tenant/model/owner-objects.ts';

/** Who the controllers of the area are, on the embedded engine as on a cluster. */
export const TENANCY_USER = 'system:serviceaccount:tenantry-system:tenantry-tenancy';

/**
 * They copy any kind of object down the tree and give the owners of a tenant whatever a RoleBinding names, so they must hold everything,
 * as HNC does.
 */
export function tenancyRights(): KubeObject[] {
  return [
    ...ownerRoles(),
    ...grant('tenantry:tenancy', 'tenantry-tenancy', [
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { nonResourceURLs: ['*'], verbs: ['get'] },
    ]),
  ];
}

/** Admission reads, asks whether somebody may, and writes what belongs to itself: its certificate, its webhooks, its reservations of quota. */
export function admissionRights(namespace: string): KubeObject[] {
  const name = 'tenantry:admission';
  const own = ['get', 'list', 'watch', 'create', 'update'];
  return [
    ...grant(name, 'tenantry-admission', [
      { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
      // For dry runs: whether a quota of the tree may limit what it does is asked of the API server.
      { apiGroups: [''], resources: ['resourcequotas'], verbs: ['create'] },
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'],
        verbs: ['create', 'update', 'patch'],
      },
    ]),
    {
      apiVersion: RBAC_VERSION,
      kind: 'Role',
      metadata: { name, namespace },
      rules: [{ apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: own }],
    },
    {
      apiVersion: RBAC_VERSION,
      kind: 'RoleBinding',
      metadata: { name, namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [account('tenantry-admission')],
    },
  ];
}

const RBAC_VERSION = 'rbac.authorization.k8s.io/v1';

function account(name: string) {
  return { kind: 'ServiceAccount', name, namespace: 'tenantry-system' };
}

function grant(name: string, user: string, rules: object[]): KubeObject[] {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
  return [
    { apiVersion: RBAC_VERSION, kind: 'ClusterRole', metadata: { name }, rules },
    { apiVersion: RBAC_VERSION, kind: 'ClusterRoleBinding', metadata: { name }, roleRef, subjects: [account(user)] },
  ];
}
