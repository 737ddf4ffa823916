import type { KubeObject } from '../../../kube/object.ts';

export function nodeUser(name: string): { name: string; groups: string[] } {
  return { name: `system:node:${name}`, groups: ['system:nodes', 'system:authenticated'] };
}

const API = 'rbac.authorization.k8s.io';
const NAME = 'tenantry:node';

/** What nodes of ours need besides the rights of a kubelet: they are also the proxy of Services, enforce policies and keep volumes. */
export function nodeRights(): KubeObject[] {
  const read = ['get', 'list', 'watch'];
  const rules = [
    { apiGroups: [''], resources: ['namespaces', 'pods', 'endpoints', 'persistentvolumes', 'persistentvolumeclaims'], verbs: read },
    { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['patch', 'update'] },
    // Whom they take for their cluster, when that changes.
    { apiGroups: [''], resources: ['configmaps'], resourceNames: ['kube-root-ca.crt'], verbs: ['get'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: read },
    { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: read },
  ];
  const roleRef = { apiGroup: API, kind: 'ClusterRole', name: NAME };
  const subjects = [{ kind: 'Group', apiGroup: API, name: 'system:nodes' }];
  return [
    { apiVersion: `${API}/v1`, kind: 'ClusterRole', metadata: { name: NAME }, rules },
    { apiVersion: `${API}/v1`, kind: 'ClusterRoleBinding', metadata: { name: NAME }, roleRef, subjects },
  ];
}

/** Bindings that former versions made for a node of that name, with all rights of a kubelet on everybody's objects. */
export function formerNodeBindings(name: string): string[] {
  return [`tenantry:node:${name}`, `tenantry:node:${name}:extra`];
}
