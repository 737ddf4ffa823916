import { MANAGED_LABEL } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Tenant } from '../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { KubeObject } from '../../../kube/object.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** What owners of a tenant may see inside the namespaces of its plugins: Pods and what they write. No Secrets, and nothing to change. */
export const LOG_READER_ROLE = 'tenantry:plugins:logs';

export function logReaderRole(): KubeObject {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRole',
    metadata: { name: LOG_READER_ROLE },
    rules: [
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
    ],
  };
}

/** In the namespace of a plugin; none when the tenant has no owners. */
export function logReaders(owners: Tenant['spec']['owners'] = []): KubeObject[] {
  if (owners.length === 0) return [];
  const subjects = owners.map(({ kind, name, namespace }) =>
    kind === 'ServiceAccount' ? { kind, name, namespace } : { kind, name, apiGroup: RBAC },
  );
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: LOG_READER_ROLE };
  const metadata = { name: LOG_READER_ROLE, labels: { [MANAGED_LABEL]: 'owners' } };
  return [{ apiVersion: `${RBAC}/v1`, kind: 'RoleBinding', metadata, roleRef, subjects }];
}
