import { kindOf, type KindDefinition, type ObjectOf } from '../../kind-definition.ts';
import type { Json } from '../../../kube/object.ts';
import {
  boolean,
  conditions,
  integer,
  kubernetesType,
  list,
  mapOf,
  object,
  oneOf,
  quantity,
  rules,
  text,
  time,
} from '../../schema-source.ts';
import { CONTROL_PLANE_PROVIDERS } from './cluster-names.ts';
import { GROUP, VERSION } from './group.ts';
import { TENANT_NAME, TENANT_NAME_MAX } from './names.ts';
import { clusterVersion, nodePools } from './tenant-cluster.ts';

export const ISOLATIONS = ['Namespace', 'DedicatedNodes', 'Cluster'] as const;
export type Isolation = (typeof ISOLATIONS)[number];

const resources = mapOf(quantity());
const names = list(text({ minLength: 1, maxLength: 253 }), { maxItems: 100, 'x-kubernetes-list-type': 'set' });

const owner = object(
  { kind: oneOf(['User', 'Group', 'ServiceAccount']), name: text({ minLength: 1, maxLength: 253 }) },
  { namespace: text({ maxLength: 63 }) },
  rules({
    rule: "(self.kind == 'ServiceAccount') == has(self.namespace)",
    message: 'a ServiceAccount needs its namespace, users and groups have none',
  }),
);

const quota = object(
  {},
  {
    hard: resources,
    /** Further limits that count only what is in a scope, such as a priority class. */
    scoped: list(
      object(
        { name: text({ minLength: 1, maxLength: 40, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }), hard: resources },
        { scopeSelector: kubernetesType<Record<string, Json>>('io.k8s.api.core.v1.ScopeSelector') },
      ),
      { maxItems: 20, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
    ),
    /** How many namespaces the tenant may have, its root counted, its system and plugin namespaces not. */
    namespaces: integer({ minimum: 1 }),
  },
);

const spec = object(
  {},
  {
    owners: list(owner, { maxItems: 100 }),
    isolation: oneOf(ISOLATIONS, { default: 'Namespace' }),
    quota,
    /** What containers get that say nothing, and the most they may ask for. */
    limits: object({}, { default: resources, defaultRequest: resources, max: resources }),
    /** Absent: everything is allowed. Registries are prefixes of image names up to a slash. */
    allowed: object({}, { storageClasses: names, runtimeClasses: names, priorityClasses: names, ingressClasses: names, registries: names }),
    /** For DedicatedNodes: the nodes by name, or by their labels. */
    nodePool: object({}, { names, matchLabels: mapOf(text({ maxLength: 63 })) }),
    /** For Cluster: what the tenant's own cluster is; left out: the newest version that the policies allow, with one worker. */
    cluster: object({}, { version: clusterVersion, provider: oneOf(CONTROL_PLANE_PROVIDERS), nodePools }),
    network: object(
      {},
      {
        /** Tree: the tenant's namespaces reach each other. Namespace: each only itself. */
        between: oneOf(['Tree', 'Namespace'], { default: 'Tree' }),
        /** Addresses outside of the cluster. */
        internet: boolean({ default: true }),
        /** Further addresses that the tenant's Pods may reach. */
        allow: list(
          object(
            { cidr: text({ minLength: 1, maxLength: 43 }) },
            { ports: list(integer({ minimum: 1, maximum: 65_535 }), { maxItems: 50 }) },
          ),
          {
            maxItems: 100,
          },
        ),
      },
    ),
    podSecurity: oneOf(['privileged', 'baseline', 'restricted'], { default: 'baseline' }),
    /** The share of Run capacity when Runs wait: twice the share, served twice as often. */
    runs: object({}, { share: integer({ minimum: 1, maximum: 1000, default: 1 }), maxInFlight: integer({ minimum: 0 }) }),
    /** On every namespace of the tenant, for cost allocation. */
    labels: mapOf(text({ maxLength: 63 }), { maxProperties: 50 }),
    /** A KEDA of the tenant's own. */
    autoscaling: object({}, { enabled: boolean({ default: false }) }),
    /** Workloads are scaled to zero and new ones refused; data stays. */
    suspended: boolean(),
    deletion: object(
      {},
      {
        /** Retain: the namespaces stay, without owners and tree. */
        policy: oneOf(['Delete', 'Retain'], { default: 'Delete' }),
        /** How long a deleted tenant is only suspended. */
        gracePeriodSeconds: integer({ minimum: 0, maximum: 31_536_000, default: 0 }),
      },
    ),
  },
  // A Tenant may be no more than its name.
  { default: { isolation: 'Namespace' } },
);

const amount = object({ hard: text() }, { used: text() });

const status = object(
  {},
  {
    /** Pending, Active, Moving, Suspended, Deleting. */
    phase: text(),
    /** The isolation in force; differs from the wanted one while the tenant moves. */
    isolation: text(),
    namespaces: list(text()),
    namespaceCount: integer(),
    /** By resource, over the whole tree. */
    usage: mapOf(amount),
    nodes: list(text()),
    /** When a deleted tenant's namespaces go. */
    deletionTime: time(),
    observedGeneration: integer({ format: 'int64' }),
    conditions: conditions(),
  },
);

export const tenantDefinition = {
  group: GROUP,
  version: VERSION,
  kind: 'Tenant',
  plural: 'tenants',
  shortNames: ['tnt'],
  scope: 'Cluster',
  description:
    'A customer, a team, a researcher: a tree of namespaces with owners, a quota over all of it, and as much isolation as it needs.',
  spec,
  status,
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Isolation', type: 'string', jsonPath: '.status.isolation' },
    { name: 'Namespaces', type: 'integer', jsonPath: '.status.namespaceCount' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: [],
  nameRules: { pattern: TENANT_NAME, maxLength: TENANT_NAME_MAX },
} satisfies KindDefinition;

export const TenantKind = kindOf(tenantDefinition);
export type Tenant = ObjectOf<typeof tenantDefinition>;
