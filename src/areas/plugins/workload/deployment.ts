import { createHash } from 'node:crypto';
import {
  DATABASE_FOLDER,
  EVENTS_FOLDER,
  SECRETS_FOLDER,
  TOKEN_FOLDER,
  VERSION_LABEL,
  WORKLOAD_LABEL,
} from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { canonicalQuantity } from '../../../kube/quantity.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { ACCOUNT, TOKEN_SECRET } from '../identity/plugin-tokens.ts';
import { GATEWAY_URL_IN_CLUSTER } from '../gateway/gateway-service.ts';
import { versionLabelOf, workloadNameOf } from '../installation/model/plugin-names.ts';
import { labelsOf, type Target } from '../installation/model/target.ts';
import { EVENTS_SECRET } from '../kafka/events-secret.ts';
import type { ResolvedSecrets } from '../secrets/resolve-secrets.ts';
import { amounts, replicasOf } from './limits.ts';

export const SECRETS_SECRET = 'plugin-secrets';
export const DATABASE_SECRET = 'plugin-database';
export const PULL_SECRET = 'plugin-pull';
/** On a Deployment: whether it has no Pods, because nothing of the plugin may run, or it runs elsewhere. */
export const SUSPENDED_MARK = 'plugins.tenantry.dev/suspended';
/** The container of a plugin. */
const CONTAINER = 'plugin';

/** What the Deployment, the Service and the autoscaler of a version are called. Two versions are beside each other in an upgrade. */
export function workloadOf({ version }: Pick<Target, 'version'>): string {
  return workloadNameOf(version.spec.version);
}

function selectorOf(target: Target): Record<string, string> {
  return { 'app.kubernetes.io/name': 'plugin', [WORKLOAD_LABEL]: workloadOf(target) };
}

export interface WorkloadInput {
  /** By digest. */
  image: string;
  secrets: Pick<ResolvedSecrets, 'items' | 'env' | 'data'>;
  hasDatabase: boolean;
  hasEvents: boolean;
  /** Its Pods are in the cluster that its tenant lives in. */
  isElsewhere?: boolean;
}

export function deployment(target: Target, input: WorkloadInput): KubeObject {
  const { version, manifest } = target;
  const isStopped = target.isSuspended || input.isElsewhere === true;
  const { min, max } = replicasOf(target);
  const { periodSeconds = 5, failureThreshold = 12 } = manifest.spec.runtime.startupProbe ?? {};
  const labels = { ...labelsOf(target, 'workload'), [VERSION_LABEL]: versionLabelOf(version.spec.version) };
  // Between min and max an autoscaler decides.
  const replicas = isStopped ? { replicas: 0 } : max > min ? {} : { replicas: min };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    // Said here too, because a number of replicas that we no longer name would be left as it is.
    metadata: { name: workloadOf(target), labels, annotations: { [SUSPENDED_MARK]: String(isStopped) } },
    spec: {
      ...replicas,
      selector: { matchLabels: selectorOf(target) },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      progressDeadlineSeconds: Math.max(120, periodSeconds * failureThreshold + 60),
      revisionHistoryLimit: 2,
      template: { metadata: templateMetadata({ ...labels, ...selectorOf(target) }, input), spec: podSpec(target, input) },
    },
  };
}

/** Files follow a changed secret by themselves; a process learns of a changed variable only when it starts. */
function templateMetadata(labels: Record<string, string>, { secrets }: WorkloadInput): Json {
  const metadata = { labels };
  if (secrets.env.length === 0) return metadata;
  const values = secrets.env.map(({ key }) => [key, secrets.data[key]]);
  const hash = createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 16);
  return { ...metadata, annotations: { 'plugins.tenantry.dev/variables-hash': hash } };
}

function podSpec(target: Target, input: WorkloadInput): Json {
  const { manifest } = target;
  return {
    serviceAccountName: ACCOUNT,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    ...(manifest.spec.runtime.imagePullSecret === undefined ? {} : { imagePullSecrets: [{ name: PULL_SECRET }] }),
    containers: [container(target, input)],
    volumes: volumesOf(target, input).map(({ volume }) => volume),
  };
}

function container(target: Target, input: WorkloadInput): Json {
  const { command, args, resources, startupProbe } = target.manifest.spec.runtime;
  const storage = resources.storage === undefined ? {} : { 'ephemeral-storage': canonicalQuantity(resources.storage) };
  return {
    name: CONTAINER,
    image: input.image,
    ...(command ? { command } : {}),
    ...(args ? { args } : {}),
    env: environmentOf(target, input),
    resources: { requests: amounts(resources.requests), limits: { ...amounts(resources.limits), ...storage } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      capabilities: { drop: ['ALL'] },
    },
    ...(startupProbe ? { ports: [{ containerPort: startupProbe.port, protocol: 'TCP' }], ...probes(startupProbe), ...LAST_REQUESTS } : {}),
    volumeMounts: volumesOf(target, input).map(({ mount }) => mount),
  };
}

/** It goes on answering until every gateway has heard that it is ending. */
const LAST_REQUESTS = { lifecycle: { preStop: { sleep: { seconds: 2 } } } };

function probes({
  path,
  port,
  periodSeconds = 5,
  failureThreshold = 12,
}: NonNullable<Target['manifest']['spec']['runtime']['startupProbe']>) {
  const httpGet = { path, port };
  return {
    startupProbe: { httpGet, periodSeconds, failureThreshold },
    readinessProbe: { httpGet, periodSeconds, failureThreshold: 3 },
    livenessProbe: { httpGet, periodSeconds: 10, failureThreshold: 6 },
  };
}

/** What the platform says cannot be said otherwise by the manifest. */
function environmentOf({ tenant, plugin, version, manifest }: Target, { secrets }: WorkloadInput): Json[] {
  const own: Record<string, string> = {
    TENANT_ID: tenant,
    PLUGIN_NAME: plugin,
    PLUGIN_VERSION: version.spec.version,
    PLUGIN_TOKEN_FILE: `${TOKEN_FOLDER}/token`,
    ...(manifest.spec.egress?.to?.includes('gateway') ? { PLUGIN_GATEWAY_URL: GATEWAY_URL_IN_CLUSTER } : {}),
  };
  const fromSecrets = secrets.env.filter(({ name }) => !(name in own));
  const taken = new Set([...Object.keys(own), ...fromSecrets.map(({ name }) => name)]);
  const declared = Object.entries(manifest.spec.runtime.env ?? {}).filter(([name]) => !taken.has(name));
  return [
    ...[...Object.entries(own), ...declared].map(([name, value]) => ({ name, value })),
    ...fromSecrets.map(({ name, key }) => ({ name, valueFrom: { secretKeyRef: { name: SECRETS_SECRET, key } } })),
  ];
}

function volumesOf({ manifest }: Target, { secrets, hasDatabase, hasEvents }: WorkloadInput): { volume: Json; mount: Json }[] {
  const { storage } = manifest.spec.runtime.resources;
  const volumes = [
    {
      volume: { name: 'tmp', emptyDir: storage === undefined ? {} : { sizeLimit: canonicalQuantity(storage) } },
      mount: { name: 'tmp', mountPath: '/tmp' },
    },
    fromSecret('identity', TOKEN_SECRET, TOKEN_FOLDER),
  ];
  if (secrets.items.length > 0) volumes.push(fromSecret('secrets', SECRETS_SECRET, SECRETS_FOLDER, secrets.items));
  if (hasDatabase) volumes.push(fromSecret('database', DATABASE_SECRET, DATABASE_FOLDER));
  if (hasEvents) volumes.push(fromSecret('events', EVENTS_SECRET, EVENTS_FOLDER));
  return volumes;
}

function fromSecret(name: string, secretName: string, mountPath: string, items?: Json[]): { volume: Json; mount: Json } {
  return { volume: { name, secret: { secretName, ...(items ? { items } : {}) } }, mount: { name, mountPath, readOnly: true } };
}

/** Where the gateway finds it; a plugin without a port is not called. */
export function services(target: Target): KubeObject[] {
  const port = target.manifest.spec.runtime.startupProbe?.port;
  if (port === undefined) return [];
  const spec = { selector: selectorOf(target), ports: [{ name: 'http', port, targetPort: port, protocol: 'TCP' }] };
  return [{ apiVersion: 'v1', kind: 'Service', metadata: { name: workloadOf(target), labels: labelsOf(target, 'workload') }, spec }];
}

export function autoscalers(target: Target): KubeObject[] {
  const { min, max, targetCPUUtilization } = replicasOf(target);
  if (max <= min || target.isSuspended) return [];
  const metric = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: targetCPUUtilization } } };
  const spec = {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: workloadOf(target) },
    minReplicas: min,
    maxReplicas: max,
    metrics: [metric],
  };
  const metadata = { name: workloadOf(target), labels: labelsOf(target, 'workload') };
  return [{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata, spec }];
}
