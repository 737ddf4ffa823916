import type { KubeObject } from '../../../kube/object.ts';

export function nodeUser(name: string): { name: string; groups: string[] } {
  return { name: `system:node:${name}`, groups: ['system:nodes', 'system:authenticated'] };
}

/** What a node of ours needs besides the rights of a kubelet: it is also the proxy of Services, enforces policies and keeps volumes. */
const EXTRA_ROLE = 'tenantry:node';

export function nodeRights(name: string): KubeObject[] {
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: nodeUser(name).name }];
  const binding = (of: string, role: string): KubeObject => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: of },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects,
  });
  return [
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: EXTRA_ROLE },
      rules: [
        { apiGroups: [''], resources: ['namespaces', 'endpoints', 'persistentvolumes'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['patch', 'update'] },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: ['get', 'list', 'watch'] },
      ],
    },
    binding(`tenantry:node:${name}`, 'system:node'),
    binding(`tenantry:node:${name}:extra`, EXTRA_ROLE),
  ];
}
