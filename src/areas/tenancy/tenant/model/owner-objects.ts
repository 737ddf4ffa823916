import { SELECT } from '../../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import {
  OWNED_BY_TENANT,
  OWNER_ROLE,
  PROPAGATE_TO_PLATFORM,
  ROLE_LABEL,
  viewerRoleOf,
} from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Tenant } from '../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { KubeObject } from '../../../../kube/object.ts';

const RBAC = 'rbac.authorization.k8s.io';
const apiVersion = `${RBAC}/v1`;
/** The RoleBinding in the root namespace; the tree copies it to the owners' other namespaces. */
export const OWNERS_BINDING = 'tenantry:owners';
/** What owners may see of the platform's namespaces in their tree: that they are there, and where. */
const TREE_VIEW = `${OWNER_ROLE}:view-tree`;

const AGGREGATE = 'tenantry.dev/aggregate-to-owner';
const ALL = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];

/** What owners may do in each of their namespaces: what `admin` may, and the tree below. */
export function ownerRoles(): KubeObject[] {
  return [
    {
      apiVersion,
      kind: 'ClusterRole',
      metadata: { name: OWNER_ROLE },
      aggregationRule: {
        clusterRoleSelectors: [
          { matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' } },
          { matchLabels: { [AGGREGATE]: 'true' } },
        ],
      },
    },
    {
      apiVersion,
      kind: 'ClusterRole',
      metadata: { name: `${OWNER_ROLE}:tree`, labels: { [AGGREGATE]: 'true' } },
      rules: [
        {
          apiGroups: ['hnc.x-k8s.io'],
          resources: ['hierarchyconfigurations', 'subnamespaceanchors', 'hierarchicalresourcequotas'],
          verbs: ALL,
        },
      ],
    },
    {
      apiVersion,
      kind: 'ClusterRole',
      metadata: { name: TREE_VIEW },
      rules: [
        { apiGroups: [''], resources: ['namespaces'], verbs: ['get'] },
        { apiGroups: ['hnc.x-k8s.io'], resources: ['hierarchyconfigurations'], verbs: ['get'] },
      ],
    },
  ];
}

export interface OwnerObjects {
  roleBindings: KubeObject[];
  clusterRoles: KubeObject[];
  clusterRoleBindings: KubeObject[];
}

export function ownerObjects({ metadata, spec }: Tenant): OwnerObjects {
  const tenant = metadata.name!;
  const subjects = (spec.owners ?? []).map(({ kind, name, namespace }) =>
    kind === 'ServiceAccount' ? { kind, name, namespace } : { kind, name, apiGroup: RBAC },
  );
  if (subjects.length === 0) return { roleBindings: [], clusterRoles: [], clusterRoleBindings: [] };
  const labels = { [OWNED_BY_TENANT]: tenant };
  const own = { name: viewerRoleOf(tenant), labels };
  const roleRef = (name: string) => ({ apiGroup: RBAC, kind: 'ClusterRole', name });
  return {
    roleBindings: [
      {
        apiVersion,
        kind: 'RoleBinding',
        metadata: { name: OWNERS_BINDING, namespace: tenant, labels },
        roleRef: roleRef(OWNER_ROLE),
        subjects,
      },
      {
        apiVersion,
        kind: 'RoleBinding',
        metadata: {
          name: TREE_VIEW,
          namespace: tenant,
          labels,
          // Copied to the platform's namespaces of the tree and to no others, so that owners can draw the whole of it.
          annotations: { [SELECT]: ROLE_LABEL, [PROPAGATE_TO_PLATFORM]: 'true' },
        },
        roleRef: roleRef(TREE_VIEW),
        subjects,
      },
    ],
    clusterRoles: [
      {
        apiVersion,
        kind: 'ClusterRole',
        metadata: own,
        // With a name in the rule a list is allowed only to who asks for that name: nobody sees the others.
        rules: [{ apiGroups: ['tenantry.dev'], resources: ['tenants'], resourceNames: [tenant], verbs: ['get', 'list', 'watch'] }],
      },
    ],
    clusterRoleBindings: [{ apiVersion, kind: 'ClusterRoleBinding', metadata: own, roleRef: roleRef(own.name), subjects }],
  };
}
