import type { KubeObject } from '../../kube/object.ts';
import { ownerRoles } from './tenant/model/owner-objects.ts';

/** Who the controllers of the area are, on the embedded engine as on a cluster. */
export const TENANCY_USER = 'system:serviceaccount:tenantry-system:tenantry-tenancy';
/** Who asks on behalf of admission: it reads, and reserves quota. */
export const ADMISSION_USER = 'system:serviceaccount:tenantry-system:tenantry-admission';

/**
 * They copy any kind of object down the tree and give the owners of a tenant whatever a RoleBinding names, so they must hold everything,
 * as HNC does. Admission only reads.
 */
export function tenancyRights(): KubeObject[] {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const roleRef = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name });
  const account = (name: string) => ({ kind: 'ServiceAccount', name, namespace: 'tenantry-system' });
  const grant = (name: string, user: string, rules: object[]): KubeObject[] => [
    { apiVersion, kind: 'ClusterRole', metadata: { name }, rules },
    { apiVersion, kind: 'ClusterRoleBinding', metadata: { name }, roleRef: roleRef(name), subjects: [account(user)] },
  ];
  return [
    ...ownerRoles(),
    ...grant('tenantry:tenancy', 'tenantry-tenancy', [
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { nonResourceURLs: ['*'], verbs: ['get'] },
    ]),
    ...grant('tenantry:admission', 'tenantry-admission', [
      { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
      { apiGroups: [''], resources: ['resourcequotas'], verbs: ['create'] },
    ]),
  ];
}
