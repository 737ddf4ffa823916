import { kindOf, type KindDefinition, type ObjectOf } from '../../kind-definition.ts';
import type { Json } from '../../../kube/object.ts';
import { conditions, integer, kubernetesType, mapOf, object, oneOf, quantity, rules, text, type ValueOf } from '../../schema-source.ts';
import { artifactStore } from './artifact-store.ts';
import { GROUP, VERSION } from './group.ts';

/** The part of a Pod template that we read and write by name. */
export interface PodTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: { containers: Json[]; [field: string]: Json };
}

const templateRules = rules(
  { rule: "self.spec.containers[0].name == 'runtime'", message: 'the first container must be named "runtime"' },
  {
    rule: 'has(self.spec.containers[0].image) && size(self.spec.containers[0].image) >= 1 && size(self.spec.containers[0].image) <= 2048',
    message: 'the runtime container needs an image of at most 2048 characters',
  },
  { rule: "!has(self.spec.restartPolicy) || self.spec.restartPolicy == 'Always'", message: 'restartPolicy must be Always' },
  { rule: '!has(self.spec.ephemeralContainers)', message: 'ephemeralContainers are not supported' },
  {
    rule: "!has(self.spec.serviceAccountName) || self.spec.serviceAccountName == '' || self.spec.serviceAccountName.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",
    message: 'serviceAccountName must be a DNS subdomain',
  },
);

const spec = object(
  { template: kubernetesType<PodTemplate>('io.k8s.api.core.v1.PodTemplateSpec', templateRules) },
  {
    port: integer({ minimum: 1, default: 9091 }),
    /** Additive: 0 is allowed. Without it the Runtime keeps between minReplicas and maxReplicas by its queue. */
    replicas: integer({ minimum: 0, default: 1 }),
    daemonImage: text({ maxLength: 2048 }),
    capacity: object({}, { resources: mapOf(quantity()) }),
    artifactStore,
    workspace: kubernetesType<Record<string, Json>>('io.k8s.api.core.v1.VolumeSource'),
    /** Additive: who may use it. Open: whoever may create Runs in the namespace. Restricted: who also has the verb `use` on this Runtime. */
    access: oneOf(['Open', 'Restricted']),
    /** Additive: how Runs are kept apart from each other. */
    isolation: oneOf(['shared', 'process']),
    /** Additive, for `process`: whether Runs reach the network. */
    network: oneOf(['None', 'Pod']),
    /** Additive, for `process`: the most that each Run may take. */
    limits: object({}, { memory: quantity(), cpu: quantity(), pids: integer({ minimum: 1 }) }),
    /** Additive: replicas follow the queue between `replicas` and this. */
    autoscaling: object(
      { maxReplicas: integer({ minimum: 1 }) },
      {
        minReplicas: integer({ minimum: 0, default: 1 }),
        /** Runs waiting per replica before one more is started. */
        targetQueuedRuns: integer({ minimum: 1, default: 4 }),
        /** Or when the oldest has waited so long. */
        targetWaitSeconds: integer({ minimum: 1, default: 5 }),
        scaleDownDelaySeconds: integer({ minimum: 0, default: 300 }),
      },
      rules({ rule: 'self.minReplicas <= self.maxReplicas', message: 'minReplicas must not exceed maxReplicas' }),
    ),
    /** Additive: how long a Pod that is going waits for its Runs. */
    drainSeconds: integer({ minimum: 0, default: 300 }),
    /** Additive: pre-started interpreters per Pod. */
    warmWorkers: integer({ minimum: 0, maximum: 64 }),
  },
  rules({
    rule: "!has(self.limits) || !has(self.isolation) || self.isolation == 'process'",
    message: 'limits of each Run need isolation "process"',
  }),
);

const status = object(
  {},
  {
    readyReplicas: integer(),
    replicas: integer(),
    queuedRuns: integer(),
    activeRuns: integer(),
    observedGeneration: integer({ format: 'int64' }),
    conditions: conditions(),
  },
);

export const runtimeDefinition = {
  group: GROUP,
  version: VERSION,
  kind: 'Runtime',
  plural: 'runtimes',
  shortNames: ['rt'],
  scope: 'Namespaced',
  description: 'Runtime is a set of warm Pods that take Runs.',
  spec,
  status,
  columns: [
    { name: 'Image', type: 'string', jsonPath: '.spec.template.spec.containers[0].image' },
    { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: [],
} satisfies KindDefinition<ValueOf<typeof spec>, ValueOf<typeof status>>;

export type RuntimeSpec = ValueOf<typeof spec>;
export type RuntimeStatus = ValueOf<typeof status>;
export type Runtime = ObjectOf<typeof runtimeDefinition>;
export const RuntimeKind = kindOf(runtimeDefinition);
