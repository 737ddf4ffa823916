import { isDns1123Label } from '../../../../kube/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { deepEqual } from '../equality.ts';
import { path, type Path } from '../path.ts';
import { compareQuantities } from '../quantities.ts';
import { cidrWarnings, ipWarnings } from './addresses.ts';
import { claimSpecWarnings } from './fractions.ts';
import { deprecatedNodeLabel, nodeSelectorTermWarnings } from './node-labels.ts';
import { podWarnings } from './pod.ts';
import { keyPairWarning } from './key-pair.ts';

/** Advice on each kind, per write. `old` is what is stored, on updates. */
export type Warner = (object: KubeObject, old: KubeObject | undefined) => string[];

/** `%v` of a list of strings. */
function nameWarnings(object: KubeObject, use: string): string[] {
  const messages = isDns1123Label(object.metadata.name ?? '');
  if (messages.length === 0) return [];
  const consequence = 'which can result in surprising behavior; a DNS label is recommended';
  return [`metadata.name: this is used in ${use}, ${consequence}: [${messages.join(' ')}]`];
}

export const warnPod: Warner = (pod, old) =>
  old === undefined ? [...nameWarnings(pod, "the Pod's hostname"), ...podWarnings(pod.spec ?? {}, pod.metadata)] : [];

function templateWarnings(template: Json, at: Path): string[] {
  return template === undefined ? [] : podWarnings(template.spec ?? {}, template.metadata, at);
}

function specChanged(object: KubeObject, old: KubeObject | undefined): boolean {
  return old === undefined || object.metadata.generation !== old.metadata.generation;
}

const TEMPLATE = path('spec', 'template');

/** Deployments and the like: names end up in Pods, and so does the template. */
export const warnWorkload: Warner = (object, old) => [
  ...(old === undefined ? nameWarnings(object, 'Pod names and hostnames') : []),
  ...(specChanged(object, old) ? templateWarnings(object.spec?.template, TEMPLATE) : []),
];

/** On an update upstream looks at the template that was there before. */
export const warnReplicationController: Warner = (object, old) => {
  if (old === undefined) return warnWorkload(object, undefined);
  return specChanged(object, old) ? templateWarnings(old.spec?.template, TEMPLATE) : [];
};

export const warnDaemonSet: Warner = (object, old) => {
  const changed = old === undefined || !deepEqual(object.spec?.template, old.spec?.template);
  return changed ? templateWarnings(object.spec?.template, TEMPLATE) : [];
};

export const warnStatefulSet: Warner = (object, old) => {
  const { template, volumeClaimTemplates = [], revisionHistoryLimit } = object.spec ?? {};
  const claimsAt = path('spec', 'volumeClaimTemplates');
  const found = specChanged(object, old) ? templateWarnings(template, TEMPLATE) : [];
  volumeClaimTemplates.forEach((claim: Json, i: number) => {
    const at = old === undefined ? claimsAt.index(i) : claimsAt.index(i).child('Spec');
    found.push(...claimSpecWarnings(claim.spec ?? {}, at));
  });
  if (revisionHistoryLimit < 0) {
    found.push('spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended');
  }
  return found;
};

export const warnPodTemplate: Warner = (object, old) =>
  specChanged(object, old) ? templateWarnings(object.template, path('template')) : [];

function jobSpecWarnings(spec: Json, at: Path): string[] {
  const found: string[] = [];
  if (spec.completionMode === 'Indexed' && spec.completions > 100_000 && spec.parallelism > 10_000) {
    const when = 'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4';
    found.push(`${at.toString()}: ${when}, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`);
  }
  return [...found, ...templateWarnings(spec.template, at.child('template'))];
}

export const warnJob: Warner = (job, old) => [
  ...(old === undefined ? nameWarnings(job, 'Pod names and hostnames') : []),
  ...(specChanged(job, old) ? jobSpecWarnings(job.spec ?? {}, path('spec')) : []),
];

export const warnCronJob: Warner = (job, old) => {
  const found = old === undefined ? nameWarnings(job, 'Pod names and hostnames') : [];
  if (specChanged(job, old)) found.push(...jobSpecWarnings(job.spec?.jobTemplate?.spec ?? {}, path('spec', 'jobTemplate', 'spec')));
  if (old !== undefined && job.spec?.schedule?.includes('TZ')) {
    const docs = 'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/';
    found.push(`cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see ${docs} for more details`);
  }
  return found;
};

export const warnService: Warner = (service) => {
  const found: string[] = [];
  const spec = service.spec ?? {};
  const at = path('spec');
  const hints = 'service.kubernetes.io/topology-aware-hints';
  if (service.metadata.annotations?.[hints] !== undefined) {
    found.push(`annotation ${hints} is deprecated, please use service.kubernetes.io/topology-mode instead`);
  }
  if (spec.clusterIP && spec.clusterIP !== 'None') {
    (spec.clusterIPs ?? []).forEach((ip: string, i: number) => found.push(...ipWarnings(ip, at.child('clusterIPs').index(i))));
  }
  if (spec.type === 'ClusterIP' && spec.clusterIP === 'None') {
    if (spec.loadBalancerIP) found.push('spec.loadBalancerIP is ignored for headless services');
    if ((spec.externalIPs ?? []).length > 0) found.push('spec.externalIPs is ignored for headless services');
    if (spec.sessionAffinity !== 'None') found.push('spec.SessionAffinity is ignored for headless services');
  }
  (spec.externalIPs ?? []).forEach((ip: string, i: number) => found.push(...ipWarnings(ip, at.child('externalIPs').index(i))));
  if (spec.loadBalancerIP) found.push(...ipWarnings(spec.loadBalancerIP, at.child('loadBalancerIP')));
  (spec.loadBalancerSourceRanges ?? []).forEach((cidr: string, i: number) =>
    found.push(...cidrWarnings(cidr, at.child('loadBalancerSourceRanges').index(i))),
  );
  const isExternalName = spec.type === 'ExternalName';
  if (isExternalName && (spec.externalIPs ?? []).length > 0) found.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (!isExternalName && spec.externalName) found.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  if (spec.trafficDistribution === 'PreferClose') {
    found.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  }
  return found;
};

export const warnIngress: Warner = ({ metadata, spec }, old) =>
  old === undefined && metadata.annotations?.['kubernetes.io/ingress.class'] !== undefined && spec?.ingressClassName === undefined
    ? [`annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead`]
    : [];

export const warnNetworkPolicy: Warner = ({ spec }) => {
  const found: string[] = [];
  for (const [direction, peers] of [
    ['ingress', 'from'],
    ['egress', 'to'],
  ]) {
    (spec?.[direction] ?? []).forEach((rule: Json, i: number) =>
      (rule[peers] ?? []).forEach(({ ipBlock }: Json, j: number) => {
        if (ipBlock === undefined) return;
        const at = path('spec', direction).index(i).child(peers).index(j).child('ipBlock');
        found.push(...cidrWarnings(ipBlock.cidr ?? '', at.child('cidr')));
        (ipBlock.except ?? []).forEach((cidr: string, k: number) => found.push(...cidrWarnings(cidr, at.child('except').index(k))));
      }),
    );
  }
  return found;
};

export const warnEndpoints: Warner = (endpoints) => {
  if (endpoints.metadata.labels?.['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller') return [];
  return (endpoints.subsets ?? []).flatMap((subset: Json, i: number) =>
    ['addresses', 'notReadyAddresses'].flatMap((list) =>
      (subset[list] ?? []).flatMap(({ ip = '' }: Json, j: number) =>
        ipWarnings(ip, path('subsets').index(i).child(list).index(j).child('ip')),
      ),
    ),
  );
};

const SLICE_CONTROLLERS = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io'];

export const warnEndpointSlice: Warner = (slice, old) => {
  const found = old === undefined && slice.addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : [];
  if (SLICE_CONTROLLERS.includes(slice.metadata.labels?.['endpointslice.kubernetes.io/managed-by'] ?? '')) return found;
  (slice.endpoints ?? []).forEach(({ addresses = [] }: Json, i: number) =>
    addresses.forEach((ip: string, j: number) => found.push(...ipWarnings(ip, path('endpoints').index(i).child('addresses').index(j)))),
  );
  return found;
};

export const warnNode: Warner = ({ spec }) => {
  const found: string[] = [];
  if (spec?.configSource !== undefined) found.push('spec.configSource: the feature is removed');
  if (spec?.externalID) found.push('spec.externalID: this field is deprecated, and is unused by Kubernetes');
  (spec?.podCIDRs ?? []).forEach((cidr: string, i: number) => found.push(...cidrWarnings(cidr, path('spec', 'podCIDRs').index(i))));
  return found;
};

const ANNOTATED_CLASS = 'volume.beta.kubernetes.io/storage-class';

export const warnPersistentVolumeClaim: Warner = ({ metadata, spec }) => {
  const annotationAt = path('metadata', 'annotations').key(ANNOTATED_CLASS);
  const hasAnnotation = metadata.annotations?.[ANNOTATED_CLASS] !== undefined;
  const advice = hasAnnotation ? [`${annotationAt.toString()}: deprecated since v1.8; use "storageClassName" attribute instead`] : [];
  return [...advice, ...claimSpecWarnings(spec ?? {}, path('spec'))];
};

const VOLUME_ANNOTATIONS: Record<string, string> = {
  [ANNOTATED_CLASS]: 'deprecated since v1.8; use "storageClassName" attribute instead',
  'volume.beta.kubernetes.io/mount-options': 'deprecated since v1.31; use "mountOptions" attribute instead',
};
const OLD_VOLUMES: [field: string, place: string, message: string][] = [
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

export const warnPersistentVolume: Warner = ({ metadata, spec = {} }) => {
  const found: string[] = [];
  for (const [key, message] of Object.entries(VOLUME_ANNOTATIONS)) {
    if (metadata.annotations?.[key] !== undefined) found.push(`${path('metadata', 'annotations').key(key).toString()}: ${message}`);
  }
  if (spec.persistentVolumeReclaimPolicy === 'Recycle') {
    const advice = 'The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';
    found.push(`spec.persistentVolumeReclaimPolicy: ${advice}`);
  }
  const termsAt = path('spec', 'nodeAffinity', 'required', 'nodeSelectorTerms');
  (spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).forEach((term: Json, i: number) =>
    found.push(...nodeSelectorTermWarnings(term, false, termsAt.index(i))),
  );
  for (const [field, place, message] of OLD_VOLUMES) if (spec[field] !== undefined) found.push(`spec.${place}: ${message}`);
  return found;
};

export const warnResourceQuota: Warner = ({ spec }, old) => {
  if (old !== undefined) return [];
  const hard: Record<string, string> = spec?.hard ?? {};
  return ['cpu', 'memory', 'storage', 'ephemeral-storage'].flatMap((name) => {
    const byShortName = name === 'cpu' || name === 'memory';
    const requestName = hard[`requests.${name}`] === undefined && byShortName ? name : `requests.${name}`;
    const [request, limit] = [hard[requestName], hard[`limits.${name}`]];
    if (request === undefined || limit === undefined || compareQuantities(request, limit) <= 0) return [];
    return [`ResourceQuota ${requestName} (${request}) should be less than limits.${name} (${limit})`];
  });
};

const MOUNTABLE_SECRETS = 'kubernetes.io/enforce-mountable-secrets';

export const warnServiceAccount: Warner = ({ metadata }, old) =>
  metadata.annotations?.[MOUNTABLE_SECRETS] !== undefined && old?.metadata.annotations?.[MOUNTABLE_SECRETS] === undefined
    ? [`metadata.annotations[${MOUNTABLE_SECRETS}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`]
    : [];

export const warnSecret: Warner = ({ type, data = {} }) => {
  const warning = type === 'kubernetes.io/tls' ? keyPairWarning(data['tls.crt'] ?? '', data['tls.key'] ?? '') : undefined;
  return warning === undefined ? [] : [warning];
};

export const warnRuntimeClass: Warner = ({ scheduling }) =>
  Object.keys(scheduling?.nodeSelector ?? {}).flatMap((key) => {
    const message = deprecatedNodeLabel(key);
    return message === undefined ? [] : [`scheduling.nodeSelector: ${message}`];
  });

export const warnStorageClass: Warner = ({ allowedTopologies = [] }) =>
  allowedTopologies.flatMap((term: Json, i: number) =>
    (term.matchLabelExpressions ?? []).flatMap(({ key }: Json, j: number) => {
      const message = deprecatedNodeLabel(key);
      const at = path('allowedTopologies').index(i).child('matchLabelExpressions').index(j).child('key');
      return message === undefined ? [] : [`${at.toString()}: ${message}`];
    }),
  );

export const warnCsiDriver: Warner = ({ spec }, old) => {
  const requests: Json[] = spec?.tokenRequests ?? [];
  const changed = old === undefined || !deepEqual(requests, old.spec?.tokenRequests ?? []);
  if (requests.length === 0 || spec.serviceAccountTokenInSecrets !== undefined || !changed) return [];
  const advice = 'if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes';
  return [`spec.serviceAccountTokenInSecrets is unset; ${advice}`];
};
