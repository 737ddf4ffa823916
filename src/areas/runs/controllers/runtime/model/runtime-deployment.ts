import {
  appLabelValue,
  CAPACITY_ANNOTATION_PREFIX,
  RUNTIME_CONTAINER,
  RUNTIME_LABEL,
  RUNTIMED_CONTAINER,
  RUNTIMED_HEALTH_PORT,
  RUNTIMED_STATUS_PORT,
  WORKSPACE_PATH,
  WORKSPACE_VOLUME,
} from '../../../../../api/kruntimes.io/v1alpha1/names.ts';
import type { Runtime } from '../../../../../api/kruntimes.io/v1alpha1/runtime.ts';
import type { Json } from '../../../../../kube/object.ts';
import { Quantity } from '../../../../../kube/quantity.ts';
import { BUILT_IN_LABEL } from '../../../built-in-runtimes.ts';
import { artifactAccess, runtimedStoreArguments } from './artifact-access.ts';
import { deploymentName, serviceAccountOf } from './names.ts';

export interface RuntimeSettings {
  /** Of the sidecar, unless the Runtime names another. */
  runtimedImage: string;
  /** Of the program that cleans up artifact stores. */
  maintainerImage: string;
  /** What Runs of the Runtimes that come with the engine get when those do not say; absent: as all others. */
  builtInIsolation?: { isolation: 'shared' | 'process'; reason?: string };
  /** Pods are processes of a plain user: to be root there is to be nobody, and anybody may make sandboxes. */
  sandboxesNeedNoRights?: boolean;
  /** Where runtimed sends what it does for each Run; absent: nowhere. */
  tracesUrl?: string;
}

const TOKEN_VOLUME = 'runtimed-token';
const TEMPORARY_VOLUME = 'runtime-tmp';
/** Of runtimed: what it fetches, and the keys it fetches that with, are not for Runs. */
const RUNTIMED_TEMPORARY_VOLUME = 'runtimed-tmp';
/** After the Runs: what the programs themselves need to end. */
const ENDING_SECONDS = 30;
const USER = 65_532;
/**
 * Until it has begun, which takes minutes on a machine that is emulated, nobody ends it for not answering. Asked as often as whether it is
 * ready, so that one that begins fast is ready as fast.
 */
const STARTING = { periodSeconds: 1, failureThreshold: 600 };
/** As programs with OpenTelemetry read it. */
const TRACES_VARIABLE = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';

const POD_VARIABLES = [
  { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
  { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
];

const HARDENED = {
  readOnlyRootFilesystem: true,
  runAsNonRoot: true,
  runAsUser: USER,
  runAsGroup: USER,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

/**
 * Of our own Runtime Servers with `process` isolation: making a sandbox takes rights, and what runs in it is left with none. The rights are
 * those to mount, to become the user of a Run, to give it its files and take them back, to end it, and to switch on its loopback device.
 */
const SANDBOX_MAKER = {
  readOnlyRootFilesystem: true,
  runAsUser: 0,
  runAsGroup: 0,
  allowPrivilegeEscalation: true,
  capabilities: {
    drop: ['ALL'],
    add: ['SYS_ADMIN', 'SETUID', 'SETGID', 'SETPCAP', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'NET_ADMIN'],
  },
  // The default profile has no pivot_root. Runs have a filter of their own.
  seccompProfile: { type: 'Unconfined' },
};

/** How the Runs of a Runtime are kept apart; undefined: as its server does it. */
export function isolationOf(
  { metadata, spec }: Runtime,
  { builtInIsolation }: Pick<RuntimeSettings, 'builtInIsolation'>,
): 'shared' | 'process' | undefined {
  if (spec.isolation !== undefined) return spec.isolation;
  return metadata.labels?.[BUILT_IN_LABEL] === undefined ? undefined : builtInIsolation?.isolation;
}

/** The Deployment of a Runtime: the template of its author, with what the author left open filled in and the sidecar added. */
export function runtimeDeployment(runtime: Runtime, replicas: number, settings: RuntimeSettings) {
  const { name, namespace } = runtime.metadata;
  const { template } = runtime.spec;
  const selector = { [RUNTIME_LABEL]: name!, app: appLabelValue(name!) };
  const [author, ...others] = template.spec.containers;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: deploymentName(name!), namespace, labels: selector, ownerReferences: [ownerOf(runtime)] },
    spec: {
      replicas,
      selector: { matchLabels: selector },
      // A new Pod is there before an old one goes: Runs never wait for a rollout.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        metadata: {
          labels: { ...template.metadata?.labels, ...selector },
          annotations: { ...template.metadata?.annotations, ...capacityAnnotations(runtime) },
        },
        spec: {
          ...template.spec,
          serviceAccountName: serviceAccountOf(runtime),
          // The token is for runtimed alone: a Run must not find it.
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: template.spec['terminationGracePeriodSeconds'] ?? drainSeconds(runtime) + ENDING_SECONDS,
          securityContext: { fsGroup: USER, ...template.spec['securityContext'] },
          containers: [runtimeContainer(runtime, author, settings), runtimedContainer(runtime, settings), ...others],
          volumes: [...(template.spec['volumes'] ?? []), ...volumes(runtime)],
        },
      },
    },
  };
}

export function ownerOf({ apiVersion, kind, metadata }: Runtime) {
  return { apiVersion, kind, name: metadata.name!, uid: metadata.uid!, controller: true, blockOwnerDeletion: true };
}

function drainSeconds(runtime: Runtime): number {
  return runtime.spec.drainSeconds ?? 300;
}

function capacityAnnotations(runtime: Runtime): Record<string, string> {
  const resources = Object.entries(runtime.spec.capacity?.resources ?? {});
  return Object.fromEntries(resources.map(([name, amount]) => [`${CAPACITY_ANNOTATION_PREFIX}${name}`, String(amount)]));
}

function volumes(runtime: Runtime): Json[] {
  const token = [
    { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
  ];
  return [
    { name: WORKSPACE_VOLUME, ...(runtime.spec.workspace ?? { emptyDir: {} }) },
    { name: TEMPORARY_VOLUME, emptyDir: {} },
    { name: RUNTIMED_TEMPORARY_VOLUME, emptyDir: {} },
    { name: TOKEN_VOLUME, projected: { sources: token } },
    ...artifactAccess(runtime.spec.artifactStore).volumes,
  ];
}

function runtimeContainer(runtime: Runtime, author: Json, settings: RuntimeSettings): Json {
  const isolation = isolationOf(runtime, settings);
  const makesSandboxes = isolation === 'process' && isOurs(author) && author.command === undefined && !settings.sandboxesNeedNoRights;
  const port = runtime.spec.port ?? 9091;
  const has = (list: Json[] | undefined, key: string, value: unknown) => (list ?? []).some((item) => item[key] === value);
  const mounts = [
    ...(has(author.volumeMounts, 'mountPath', WORKSPACE_PATH) ? [] : [{ name: WORKSPACE_VOLUME, mountPath: WORKSPACE_PATH }]),
    // A read-only root without it breaks here-documents and temporary files.
    ...(has(author.volumeMounts, 'mountPath', '/tmp') ? [] : [{ name: TEMPORARY_VOLUME, mountPath: '/tmp' }]),
  ];
  const variables = POD_VARIABLES.filter(({ name }) => !has(author.env, 'name', name));
  return {
    // Whoever says when it is dead says how long it may begin too.
    ...(author.livenessProbe === undefined ? { startupProbe: { tcpSocket: { port }, ...STARTING } } : {}),
    livenessProbe: { tcpSocket: { port }, initialDelaySeconds: 5, periodSeconds: 10 },
    readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
    securityContext: makesSandboxes ? SANDBOX_MAKER : HARDENED,
    resources: { requests: { cpu: '250m', memory: '256Mi' }, limits: { cpu: '2', memory: '2Gi' } },
    // Goes only when runtimed has seen the last Run end.
    lifecycle: { preStop: { httpGet: { path: '/drained', port: RUNTIMED_HEALTH_PORT } } },
    ...author,
    name: RUNTIME_CONTAINER,
    ports: has(author.ports, 'name', 'grpc') ? author.ports : [...(author.ports ?? []), { name: 'grpc', containerPort: port }],
    args: [...(author.args ?? []), ...ownArguments(runtime, author, isolation)],
    env: [...(author.env ?? []), ...variables],
    volumeMounts: [...(author.volumeMounts ?? []), ...mounts],
  };
}

function isOurs({ image }: Json): boolean {
  return image.startsWith('tenantry.dev/runtime-');
}

/** What only our own Runtime Servers understand. */
function ownArguments({ spec }: Runtime, author: Json, isolation: 'shared' | 'process' | undefined): string[] {
  if (!isOurs(author)) return [];
  return [
    ...(spec.warmWorkers === undefined ? [] : ['--warm-workers', String(spec.warmWorkers)]),
    ...(isolation === undefined ? [] : ['--isolation', isolation]),
    ...(isolation === 'process' && spec.network === 'Pod' ? ['--network'] : []),
    ...limitArguments(spec.limits),
  ];
}

function limitArguments(limits: Runtime['spec']['limits']): string[] {
  const { memory, cpu, pids } = limits ?? {};
  return [
    ...(memory === undefined ? [] : ['--run-memory', String(Quantity.parse(memory).value())]),
    ...(cpu === undefined ? [] : ['--run-cpu', String(Quantity.parse(cpu).milliValue())]),
    ...(pids === undefined ? [] : ['--run-processes', String(pids)]),
  ];
}

/** Why the limits of a Runtime cannot be given, whatever the machine: undefined when there are none, or they can. */
export function limitsRefusal({ spec }: Runtime): string | undefined {
  const [author] = spec.template.spec.containers;
  if (spec.limits === undefined || isOurs(author)) return undefined;
  return `limits per Run are known to the images tenantry.dev/runtime-... only, and this one is "${author.image}"; give its server limits of its own`;
}

function runtimedContainer(runtime: Runtime, settings: RuntimeSettings): Json {
  const { network } = runtime.spec;
  const isolation = isolationOf(runtime, settings);
  const access = artifactAccess(runtime.spec.artifactStore);
  const health = (path: string) => ({ httpGet: { path, port: RUNTIMED_HEALTH_PORT }, periodSeconds: 1 });
  return {
    name: RUNTIMED_CONTAINER,
    image: runtime.spec.daemonImage ?? settings.runtimedImage,
    args: [
      '--runtime-name',
      runtime.metadata.name!,
      '--runtime-endpoint',
      `$(POD_IP):${runtime.spec.port ?? 9091}`,
      '--drain-seconds',
      String(drainSeconds(runtime)),
      ...(isolation === undefined ? [] : ['--isolation', isolation]),
      ...(network === 'Pod' ? ['--network'] : []),
      ...runtimedStoreArguments(runtime.spec.artifactStore),
    ],
    env: [...POD_VARIABLES, ...traceVariables(settings)],
    ...(access.envFrom.length === 0 ? {} : { envFrom: access.envFrom }),
    ports: [
      { name: 'status', containerPort: RUNTIMED_STATUS_PORT },
      { name: 'health', containerPort: RUNTIMED_HEALTH_PORT },
    ],
    startupProbe: { ...health('/healthz'), ...STARTING },
    livenessProbe: { ...health('/healthz'), initialDelaySeconds: 5, periodSeconds: 10 },
    readinessProbe: health('/readyz'),
    securityContext: HARDENED,
    // No limit on CPU: it would hold every Run of the Pod back when many end at once.
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
    volumeMounts: [
      { name: WORKSPACE_VOLUME, mountPath: WORKSPACE_PATH },
      { name: RUNTIMED_TEMPORARY_VOLUME, mountPath: '/tmp' },
      { name: TOKEN_VOLUME, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true },
      ...access.volumeMounts,
    ],
  };
}

/** The address of the machine is for a collector that is there: `localhost` in a Pod is the Pod. */
function traceVariables({ tracesUrl }: RuntimeSettings): Json[] {
  if (tracesUrl === undefined) return [];
  return [
    { name: TRACES_VARIABLE, value: tracesUrl },
    { name: 'HOST_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
  ];
}
