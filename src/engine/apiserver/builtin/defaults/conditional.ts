import type { Json } from '../../../../kube/object.ts';
import type { ConditionalDefault } from './defaults.ts';
import { pullPolicyFor } from './image-tag.ts';

const EXPOSED_TYPES: ReadonlySet<string> = new Set(['NodePort', 'LoadBalancer']);
const RBAC_GROUP = 'rbac.authorization.k8s.io';

function serviceType(input: Json): string {
  return input.type || 'ClusterIP';
}

function externalTrafficPolicy(input: Json): Json {
  const type = serviceType(input);
  const hasExternalAddress = type === 'ClusterIP' && input.externalIPs?.length > 0;
  return EXPOSED_TYPES.has(type) || hasExternalAddress ? 'Cluster' : undefined;
}

/** Volumes without a source are empty directories. */
function emptyDir(input: Json): Json {
  for (const key in input) if (key !== 'name' && input[key] !== null) return undefined;
  return {};
}

function policyTypes(input: Json): Json {
  return input.egress?.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
}

function subjectGroup(input: Json): Json {
  return input.kind === 'User' || input.kind === 'Group' ? RBAC_GROUP : undefined;
}

function deviceCount(input: Json): Json {
  return (input.allocationMode || 'ExactCount') === 'ExactCount' ? 1 : undefined;
}

function whenRollingUpdate(input: Json): Json {
  return (input.type || 'RollingUpdate') === 'RollingUpdate' ? {} : undefined;
}

/** For what Kubernetes does to one kind only: to a Pod and not to templates, to a Job and not to those that a CronJob describes. */
function onlyIn(kind: string, value: (input: Json) => Json): ConditionalDefault {
  return (input, _out, root) => (root === kind ? value(input) : undefined);
}

const JOB = 'io.k8s.api.batch.v1.Job';
const MOST_RETRIES = 2 ** 31 - 1;

function isAbsent(value: Json): boolean {
  return value === undefined || value === null;
}

/** Defaults that depend on other fields of the same object, by definition and field. */
export const CONDITIONAL_DEFAULTS: Record<string, Record<string, ConditionalDefault>> = {
  'io.k8s.api.core.v1.Container': { imagePullPolicy: (input) => pullPolicyFor(input.image) },
  'io.k8s.api.core.v1.EphemeralContainer': { imagePullPolicy: (input) => pullPolicyFor(input.image) },
  'io.k8s.api.core.v1.ImageVolumeSource': { pullPolicy: (input) => pullPolicyFor(input.reference) },
  'io.k8s.api.core.v1.NodeSpec': {
    podCIDR: (input) => input.podCIDRs?.[0],
    podCIDRs: (input) => (input.podCIDR ? [input.podCIDR] : undefined),
  },
  'io.k8s.api.core.v1.PodSpec': {
    serviceAccountName: (input) => input.serviceAccount || undefined,
    serviceAccount: (_input, out) => out.serviceAccountName,
    enableServiceLinks: onlyIn('io.k8s.api.core.v1.Pod', () => true),
  },
  'io.k8s.api.core.v1.PodStatus': {
    podIP: (input) => input.podIPs?.[0]?.ip,
    podIPs: (input) => (input.podIP ? [{ ip: input.podIP }] : undefined),
  },
  'io.k8s.api.core.v1.Volume': { emptyDir },
  'io.k8s.api.core.v1.NodeStatus': { allocatable: (_input, out) => out.capacity },
  'io.k8s.api.core.v1.ServicePort': { targetPort: (input) => input.port ?? undefined },
  'io.k8s.api.core.v1.ServiceSpec': {
    externalTrafficPolicy,
    internalTrafficPolicy: (input) => (serviceType(input) === 'ExternalName' ? undefined : 'Cluster'),
    allocateLoadBalancerNodePorts: (input) => (serviceType(input) === 'LoadBalancer' ? true : undefined),
  },
  'io.k8s.api.apps.v1.DeploymentStrategy': { rollingUpdate: whenRollingUpdate },
  'io.k8s.api.apps.v1.DaemonSetUpdateStrategy': { rollingUpdate: whenRollingUpdate },
  // Only a type that is not given brings the parameters with it.
  'io.k8s.api.apps.v1.StatefulSetUpdateStrategy': { rollingUpdate: (input) => (input.type ? undefined : {}) },
  'io.k8s.api.batch.v1.JobSpec': {
    parallelism: onlyIn(JOB, () => 1),
    completions: onlyIn(JOB, (input) => (isAbsent(input.parallelism) ? 1 : undefined)),
    backoffLimit: onlyIn(JOB, (input) => (isAbsent(input.backoffLimitPerIndex) ? 6 : MOST_RETRIES)),
    manualSelector: onlyIn(JOB, () => false),
    completionMode: onlyIn(JOB, () => 'NonIndexed'),
    suspend: onlyIn(JOB, () => false),
    podReplacementPolicy: onlyIn(JOB, (input) => (isAbsent(input.podFailurePolicy) ? 'TerminatingOrFailed' : 'Failed')),
  },
  'io.k8s.api.networking.v1.NetworkPolicySpec': { policyTypes },
  'io.k8s.api.rbac.v1.Subject': { apiGroup: subjectGroup },
  'io.k8s.api.resource.v1.ExactDeviceRequest': { count: deviceCount },
  'io.k8s.api.resource.v1.DeviceSubRequest': { count: deviceCount },
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames': {
    singular: (input) => (typeof input.kind === 'string' ? input.kind.toLowerCase() : undefined),
    listKind: (input) => (input.kind ? `${input.kind}List` : undefined),
  },
};

/** Constants that no object sent to a collection can show. */
export const UNRECORDED_DEFAULTS: Record<string, Record<string, Json>> = {
  'io.k8s.api.core.v1.EphemeralContainer': { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' },
  'io.k8s.api.core.v1.NamespaceStatus': { phase: 'Active' },
  'io.k8s.api.core.v1.PersistentVolumeStatus': { phase: 'Pending' },
  'io.k8s.api.core.v1.PersistentVolumeClaimStatus': { phase: 'Pending' },
  'io.k8s.api.authentication.v1.TokenRequestSpec': { expirationSeconds: 3600 },
  'io.k8s.api.resource.v1.DeviceSubRequest': { allocationMode: 'ExactCount' },
  'io.k8s.api.flowcontrol.v1.ExemptPriorityLevelConfiguration': { nominalConcurrencyShares: 0, lendablePercent: 0 },
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec': { conversion: { strategy: 'None' } },
};
