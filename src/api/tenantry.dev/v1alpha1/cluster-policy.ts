import type { ObjectMeta } from '../../../kube/object.ts';
import { kindOf, type KindDefinition, type ObjectOf } from '../../kind-definition.ts';
import { amount, boolean, integer, list, mapOf, object, oneOf, quantity, rules, text, time } from '../../schema-source.ts';
import { CLASSIFICATIONS, CONTROL_PLANE_PROVIDERS, KERNEL_ISOLATIONS } from './cluster-names.ts';
import { GROUP, VERSION } from './group.ts';

const name = text({ minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' });

const version = object(
  { version: text({ maxLength: 20, pattern: '^1\\.[0-9]+(\\.[0-9]+)?$' }) },
  { classification: oneOf(CLASSIFICATIONS, { default: 'supported' }), expirationDate: time() },
);

const addOn = object(
  { name },
  {
    /** Manifests of the operator, one or more in each key; absent: one that comes with Tenantry. */
    configMap: object({ namespace: name, name: text({ minLength: 1, maxLength: 253 }) }, {}),
    /** Installed in every cluster, and put back when somebody deletes it. */
    mandatory: boolean({ default: false }),
  },
);

const spec = object(
  {},
  {
    /** Absent: all tenants. */
    tenants: object(
      {},
      {
        names: list(name, { maxItems: 1000, 'x-kubernetes-list-type': 'set' }),
        matchLabels: mapOf(text({ maxLength: 63 }), { maxProperties: 50 }),
      },
      rules({
        rule: 'has(self.names) || has(self.matchLabels)',
        message: 'name tenants, or give their labels; leave it out for all tenants',
      }),
    ),
    /** Absent: whatever can be served here. 1.35 stands for all its patches. */
    versions: list(version, { maxItems: 50, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['version'] }),
    /** Absent: all. */
    controlPlanes: list(oneOf(CONTROL_PLANE_PROVIDERS), { maxItems: 2, 'x-kubernetes-list-type': 'set' }),
    /** For all clusters of one tenant together; what is absent has no bound. */
    max: object(
      {},
      {
        clusters: integer({ minimum: 0 }),
        workers: integer({ minimum: 0 }),
        cpu: quantity(),
        memory: quantity(),
        disk: quantity(),
        /** Of one cluster. */
        controlPlaneReplicas: integer({ minimum: 1 }),
      },
    ),
    /** What each control plane may use: all its processes together, and its store. What is absent is Tenantry's to say. */
    controlPlaneLimits: object({}, { cpu: amount(), memory: amount(), storage: amount() }),
    addOns: list(addOn, { maxItems: 50, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
    /** The least that stands between a worker and this machine's kernel. */
    minimumKernelIsolation: oneOf(KERNEL_ISOLATIONS),
  },
  // It may be no more than its name.
  { default: { max: {} } },
);

const status = object({}, { clusters: integer(), beyondBounds: list(text()), observedGeneration: integer({ format: 'int64' }) });

export const clusterPolicyDefinition = {
  group: GROUP,
  version: VERSION,
  kind: 'ClusterPolicy',
  plural: 'clusterpolicies',
  shortNames: ['clp'],
  scope: 'Cluster',
  description:
    'What clusters tenants may have: versions, sizes, add-ons, isolation. Without a policy that selects it a tenant may have none.',
  spec,
  status,
  columns: [
    { name: 'Versions', type: 'string', jsonPath: '.spec.versions[*].version' },
    { name: 'Max-Clusters', type: 'integer', jsonPath: '.spec.max.clusters' },
    { name: 'Max-Workers', type: 'integer', jsonPath: '.spec.max.workers' },
    { name: 'Clusters', type: 'integer', jsonPath: '.status.clusters' },
    { name: 'Beyond-Bounds', type: 'string', jsonPath: '.status.beyondBounds[*]', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: [],
} satisfies KindDefinition;

export const ClusterPolicyKind = kindOf(clusterPolicyDefinition);
export type ClusterPolicy = ObjectOf<typeof clusterPolicyDefinition>;

/** One that names no tenants is for all. */
export function selectsTenant({ spec }: ClusterPolicy, { metadata }: { metadata: ObjectMeta }): boolean {
  const { names, matchLabels } = spec.tenants ?? {};
  if (names === undefined && matchLabels === undefined) return true;
  if (names?.includes(metadata.name!)) return true;
  return (
    matchLabels !== undefined &&
    Object.keys(matchLabels).length > 0 &&
    Object.entries(matchLabels).every(([key, value]) => metadata.labels?.[key] === value)
  );
}
