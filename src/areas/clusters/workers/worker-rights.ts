import { WORKER_TOKEN_GROUP } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { AddOn } from '../add-ons/add-on.ts';

const API = 'rbac.authorization.k8s.io';
const NODES = 'tenantry:node';
const READ = ['get', 'list', 'watch'];

/**
 * What workers may in their cluster: with a token ask for a certificate, which nothing there approves by itself; with that what every node may, and what
 * ours do besides, who are also the proxy of Services, enforce policies and keep volumes.
 */
export const WORKER_RIGHTS: AddOn = {
  name: 'workers',
  objects: [
    binding('tenantry:worker-tokens', 'system:node-bootstrapper', WORKER_TOKEN_GROUP),
    {
      apiVersion: `${API}/v1`,
      kind: 'ClusterRole',
      metadata: { name: NODES },
      rules: [
        { apiGroups: [''], resources: ['namespaces', 'pods', 'endpoints', 'persistentvolumes', 'persistentvolumeclaims'], verbs: READ },
        { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['patch', 'update'] },
        // Whom they take for their cluster, when that changes.
        { apiGroups: [''], resources: ['configmaps'], resourceNames: ['kube-root-ca.crt'], verbs: ['get'] },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: READ },
        { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: READ },
      ],
    },
    binding(NODES, NODES, 'system:nodes'),
  ],
};

function binding(name: string, role: string, group: string): KubeObject {
  return {
    apiVersion: `${API}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: API, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'Group', apiGroup: API, name: group }],
  };
}
