import type { AddOn } from './add-on.ts';
import { ingressAddOn } from './ingress-add-on.ts';

/** Containers that say nothing get a little and no more than a share, so that none can take a worker for itself. */
const limits: AddOn = {
  name: 'limits',
  objects: [],
  eachNamespace: [
    {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'tenantry-limits' },
      spec: {
        limits: [
          {
            type: 'Container',
            default: { cpu: '500m', memory: '512Mi' },
            defaultRequest: { cpu: '100m', memory: '128Mi' },
          },
        ],
      },
    },
  ],
};

/** Pods reach nobody and are reached by nobody that no other policy names; names are still resolved. */
const defaultDeny: AddOn = {
  name: 'default-deny',
  objects: [],
  eachNamespace: [
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'tenantry-default-deny' },
      spec: {
        podSelector: {},
        policyTypes: ['Ingress', 'Egress'],
        egress: [{ to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } }], ports: dnsPorts() }],
      },
    },
  ],
};

function dnsPorts() {
  return ['UDP', 'TCP'].map((protocol) => ({ protocol, port: 53 }));
}

/** Those that come with Tenantry. */
export const BUILT_IN_ADD_ONS: readonly AddOn[] = [limits, defaultDeny, ingressAddOn];

export const OWNERS_ADD_ON = 'rbac';

/** The right that owners have inside: all, and only as long as this is there. */
export function ownersBinding(group: string): AddOn {
  const apiGroup = 'rbac.authorization.k8s.io';
  return {
    name: OWNERS_ADD_ON,
    objects: [
      {
        apiVersion: `${apiGroup}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name: 'kubeadm:cluster-admins' },
        roleRef: { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ kind: 'Group', apiGroup, name: group }],
      },
    ],
  };
}
