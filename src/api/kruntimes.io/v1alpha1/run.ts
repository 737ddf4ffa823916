import { kindOf, type KindDefinition, type ObjectOf } from '../../kind-definition.ts';
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
  type ValueOf,
} from '../../schema-source.ts';
import { runAffinity } from './affinity.ts';
import { artifactStore } from './artifact-store.ts';
import { DNS_SUBDOMAIN, GROUP, LABEL_NAME, VERSION } from './group.ts';

export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: {
    secretKeyRef?: { name: string; key: string; optional?: boolean };
    configMapKeyRef?: { name: string; key: string; optional?: boolean };
    fieldRef?: { fieldPath: string; apiVersion?: string };
    resourceFieldRef?: unknown;
    fileKeyRef?: unknown;
  };
}

const source = object(
  {},
  {
    inline: text({ maxLength: 262_144 }),
    inlinePath: text({ minLength: 1, maxLength: 4096 }),
    repoURL: text({ maxLength: 2048 }),
    commitSHA: text({ maxLength: 256 }),
    /** Additive: a Secret of the namespace with `username`/`password` or `ssh-privatekey` for the repository. */
    credentialsSecretName: text({ minLength: 1, maxLength: 253 }),
  },
  rules(
    { rule: '!(has(self.inline) && has(self.repoURL))', message: 'inline and repoURL are mutually exclusive' },
    { rule: '!has(self.commitSHA) || has(self.repoURL)', message: 'commitSHA requires repoURL' },
    {
      rule: "!has(self.inlinePath) || (!self.inlinePath.startsWith('/') && self.inlinePath.split('/').all(s, s != '' && s != '.' && s != '..'))",
      message: 'inlinePath must be a relative path without empty, "." or ".." segments',
    },
    { rule: '!has(self.credentialsSecretName) || has(self.repoURL)', message: 'credentialsSecretName requires repoURL' },
  ),
);

const mode = object(
  {},
  {
    task: object({}, { entrypoint: text({ maxLength: 4096 }), args: list(text({ maxLength: 8192 }), { maxItems: 256 }) }),
    function: object({}, { handler: text({ maxLength: 512 }), idleTimeoutSeconds: integer({ minimum: 1 }) }),
  },
  rules({ rule: 'has(self.task) != has(self.function)', message: 'exactly one of task or function must be set' }),
);

/**
 * Every write of a status asks all rules of the spec again, and kube-apiserver pays for each field that a rule looks at with a copy of the
 * schemas of all its neighbours: what most Runs lack is looked at as seldom as can be.
 */
function isUnchanged(field: string): string {
  return `(has(self.${field}) ? has(oldSelf.${field}) && self.${field} == oldSelf.${field} : !has(oldSelf.${field}))`;
}

const spec = object(
  { runtime: text({ minLength: 1, maxLength: 63, pattern: LABEL_NAME }), mode },
  {
    source,
    workspace: object(
      { name: text({ minLength: 1, maxLength: 253, pattern: DNS_SUBDOMAIN }) },
      {
        kind: oneOf(['PersistentWorkspace'], { default: 'PersistentWorkspace' }),
        apiGroup: oneOf(['kruntimes.io/v1alpha1'], { default: 'kruntimes.io/v1alpha1' }),
      },
    ),
    affinity: runAffinity,
    resources: object({}, { requests: mapOf(quantity()) }),
    env: list(kubernetesType<EnvVar>('io.k8s.api.core.v1.EnvVar'), { maxItems: 256 }),
    timeout: text(),
    cancelRequested: boolean(),
    retryPolicy: object(
      {},
      {
        maxAttempts: integer({ minimum: 1, maximum: 100 }),
        backoff: text(),
        retryableReasons: list(text({ maxLength: 128 }), { maxItems: 32 }),
      },
    ),
    ttlSecondsAfterFinished: integer({ minimum: 0 }),
    /** Additive: higher goes first; equal ones in the order of their creation, fairly between namespaces. */
    priority: integer({ minimum: -1000, maximum: 1000 }),
  },
  rules(
    {
      rule: "!has(self.mode.task) || !has(self.mode.task.entrypoint) || (has(self.source) && has(self.source.inline)) || (!self.mode.task.entrypoint.startsWith('/') && self.mode.task.entrypoint.split('/').all(s, s != '..'))",
      message: 'mode.task.entrypoint must be a relative path without ".." segments',
    },
    {
      rule: '!has(self.source) || !has(self.source.inlinePath) || (has(self.mode.function) && has(self.source.inline))',
      message: 'source.inlinePath is only supported for function mode with source.inline',
    },
    {
      rule: '!has(self.source) || !has(self.mode.function) || !has(self.source.inline) || has(self.source.inlinePath)',
      message: 'source.inlinePath is required for function mode with source.inline',
    },
    {
      rule: `self == oldSelf || (self.runtime == oldSelf.runtime && self.mode == oldSelf.mode && ${['source', 'env', 'timeout', 'retryPolicy', 'resources'].map(isUnchanged).join(' && ')})`,
      message: 'runtime, source, mode, env, timeout, retryPolicy, and resources are immutable after Run creation',
    },
    {
      rule: ['workspace', 'affinity'].map(isUnchanged).join(' && '),
      message: 'workspace and affinity are immutable after Run creation',
    },
    {
      rule: '!has(oldSelf.cancelRequested) || !oldSelf.cancelRequested || (has(self.cancelRequested) && self.cancelRequested)',
      message: 'cancelRequested may not transition from true to false',
    },
  ),
);

const artifactReference = object(
  {
    name: text({ minLength: 1, maxLength: 255 }),
    driver: oneOf(['filesystem', 's3']),
    type: oneOf(['file', 'directory', 'archive', 'blob']),
    location: object(
      {},
      {
        filesystem: object({ path: text({ minLength: 1, maxLength: 4096 }) }, { volumeClaimName: text({ maxLength: 253 }) }),
        s3: object({ bucket: text({ minLength: 1, maxLength: 255 }), key: text({ minLength: 1, maxLength: 4096 }) }, {}),
      },
    ),
    sizeBytes: integer({ format: 'int64', minimum: 0 }),
    createdAt: time(),
  },
  { digest: text({ maxLength: 256 }), contentType: text({ maxLength: 255 }) },
  rules({
    rule: "self.driver == 'filesystem' ? has(self.location.filesystem) && !has(self.location.s3) : has(self.location.s3) && !has(self.location.filesystem)",
    message: 'location must match driver',
  }),
);

export const RUN_PHASES = ['Pending', 'Scheduled', 'Running', 'Ready', 'Succeeded', 'Failed', 'Timeout', 'Cancelled'] as const;
export type RunPhase = (typeof RUN_PHASES)[number];

const status = object(
  { phase: oneOf(RUN_PHASES, { default: 'Pending' }) },
  {
    assignedPod: text(),
    assignedPodUID: text({ maxLength: 253 }),
    endpoint: object(
      { protocol: oneOf(['HTTPS']), url: text({ maxLength: 2048 }) },
      { caBundle: text({ format: 'byte', maxLength: 16_384 }) },
    ),
    message: text({ maxLength: 4096 }),
    startTime: time(),
    completionTime: time(),
    outputs: mapOf(text(), { maxProperties: 64 }),
    artifactRefs: list(artifactReference, { maxItems: 32 }),
    artifactStore,
    attempt: integer(),
    conditions: conditions(),
    /** Additive: the exit code of the last attempt, once it has one. */
    exitCode: integer(),
    /** Additive: whether a warm worker took the Run. */
    start: oneOf(['Warm', 'Cold']),
    /** Additive: what the Run wrote, the end of it when it was much; more is in the ConfigMap named here. */
    log: object(
      { text: text({ maxLength: 16_384 }) },
      {
        truncated: boolean(),
        configMapName: text({ maxLength: 253 }),
        /** Of runtimed's log, so that a reader knows when it has all. */ lines: integer({ format: 'int64' }),
      },
    ),
    /** Additive: the tenant's cluster that a copy of the Run works in. The controllers of this API server leave the Run alone then. */
    placedIn: text({ maxLength: 63 }),
  },
);

export const runDefinition = {
  group: GROUP,
  version: VERSION,
  kind: 'Run',
  plural: 'runs',
  shortNames: ['rn'],
  scope: 'Namespaced',
  description: 'Run is one short execution on a warm Pod of a Runtime.',
  spec,
  status,
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Assigned Pod', type: 'string', jsonPath: '.status.assignedPod' },
    { name: 'Runtime', type: 'string', jsonPath: '.spec.runtime' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: [
    '.spec.runtime',
    '.status.assignedPod',
    '.status.phase',
    // By these, those who delete finished Runs, and those who clean up artifacts, see no others.
    '.spec.ttlSecondsAfterFinished',
    '.status.artifactStore.driver',
    // By this, those who work on Runs see none that works elsewhere.
    '.status.placedIn',
  ],
} satisfies KindDefinition<ValueOf<typeof spec>, ValueOf<typeof status>>;

export type RunSpec = ValueOf<typeof spec>;
export type RunStatus = ValueOf<typeof status>;
export type ArtifactReference = ValueOf<typeof artifactReference>;
export type Run = ObjectOf<typeof runDefinition>;
export const RunKind = kindOf(runDefinition);
