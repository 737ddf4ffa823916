import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { AdmissionRequest } from '../admission.ts';
import { isPodLevelResource, podResources } from '../resources/pod-resources.ts';
import { addTo, toResourceList, type ResourceList } from '../../../../kube/resource-list.ts';
import { namesMatch, ONE, type Evaluator, type ScopeRequirement } from './evaluator.ts';

const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const NAMES = new Set(['count/pods', 'pods', ...COMPUTE.flatMap((name) => [name, `requests.${name}`, `limits.${name}`])]);
/** Who counts cpu or memory makes every container say how much it wants: an old mistake that stays. */
const MANDATORY = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);
const DEVICE_CLASS_PREFIX = 'deviceclass.resource.kubernetes.io/';

export function podEvaluator(now: () => number): Evaluator {
  return {
    resource: { group: '', resource: 'pods' },
    handles: handlesPod,
    tracks: (name) => NAMES.has(name) || name.startsWith('hugepages-') || name.startsWith('requests.hugepages-') || isExtendedInQuota(name),
    inScope: podInScope,
    missing: missingResources,
    usage(pod) {
      const used: ResourceList = new Map([['count/pods', ONE]]);
      if (isCharged(pod, now())) {
        const amounts = computeUsage(podResources(pod, 'requests', { status: true }), podResources(pod, 'limits', { status: true }));
        addTo(used, amounts);
      }
      return used;
    },
  };
}

function handlesPod({ operation, subresource, object, oldObject }: AdmissionRequest): boolean {
  if (subresource === 'resize') return operation === 'UPDATE';
  if (subresource !== '') return false;
  return operation === 'CREATE' || (operation === 'UPDATE' && isTerminating(object!) !== isTerminating(oldObject!));
}

/** `requests.example.com/gpu`: devices cannot be overcommitted, so only their requests are counted. */
function isExtendedInQuota(name: string): boolean {
  if (!name.startsWith('requests.')) return false;
  return (name.includes('/') && !name.includes('kubernetes.io/')) || name.startsWith(`requests.${DEVICE_CLASS_PREFIX}`);
}

function isExtended(name: string): boolean {
  return name.startsWith(DEVICE_CLASS_PREFIX) || (name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.'));
}

/** Requests and limits under the names of quotas. */
function computeUsage(requests: ResourceList, limits: ResourceList): ResourceList {
  const used: ResourceList = new Map([['pods', ONE]]);
  for (const name of COMPUTE) {
    const [request, limit] = [requests.get(name), limits.get(name)];
    if (request) used.set(name, request).set(`requests.${name}`, request);
    if (limit) used.set(`limits.${name}`, limit);
  }
  for (const [name, amount] of requests) {
    if (name.startsWith('hugepages-')) used.set(name, amount).set(`requests.${name}`, amount);
    else if (isExtended(name)) used.set(`requests.${name}`, amount);
  }
  return used;
}

/** Pods that ended, or that should have been gone by now, take nothing but their place. */
function isCharged(pod: KubeObject, now: number): boolean {
  if (pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded') return false;
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return true;
  return now <= Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}

function missingResources(pod: KubeObject, names: string[]): string | undefined {
  const { resources } = pod.spec;
  if (resources && Object.keys({ ...resources.requests, ...resources.limits }).some(isPodLevelResource)) return undefined;
  const required = names.filter((name) => MANDATORY.has(name)).sort();
  if (required.length === 0) return undefined;
  const lacking = new Map<string, Set<string>>();
  for (const container of [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])]) {
    const given = computeUsage(toResourceList(container.resources?.requests), toResourceList(container.resources?.limits));
    for (const name of required) {
      if (!given.has(name)) lacking.set(name, (lacking.get(name) ?? new Set()).add(container.name));
    }
  }
  if (lacking.size === 0) return undefined;
  const parts = [...lacking.keys()].sort().map((name) => `${name} for: ${[...lacking.get(name)!].sort().join(',')}`);
  return `must specify ${parts.join('; ')}`;
}

function podInScope(pod: KubeObject, scope: ScopeRequirement): boolean {
  switch (scope.scopeName) {
    case 'Terminating':
      return isTerminating(pod);
    case 'NotTerminating':
      return !isTerminating(pod);
    case 'BestEffort':
      return isBestEffort(pod);
    case 'NotBestEffort':
      return !isBestEffort(pod);
    case 'PriorityClass':
      return namesMatch(scope, pod.spec.priorityClassName ? [pod.spec.priorityClassName] : []);
    case 'CrossNamespacePodAffinity':
      return usesCrossNamespaceAffinity(pod);
    default:
      return false;
  }
}

function isTerminating(pod: KubeObject): boolean {
  return pod.spec?.activeDeadlineSeconds !== undefined && pod.spec.activeDeadlineSeconds >= 0;
}

function isBestEffort(pod: KubeObject): boolean {
  if (pod.status?.qosClass) return pod.status.qosClass === 'BestEffort';
  const holders: Json[] = pod.spec.resources
    ? [{ resources: pod.spec.resources }]
    : [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])];
  return holders.every(({ resources }) =>
    [resources?.requests, resources?.limits].every((amounts) => {
      const list = toResourceList(amounts);
      return ['cpu', 'memory'].every((name) => (list.get(name)?.sign ?? 0) <= 0);
    }),
  );
}

function usesCrossNamespaceAffinity(pod: KubeObject): boolean {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  return [podAffinity, podAntiAffinity].some((affinity) => {
    const required: Json[] = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const preferred: Json[] = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    const terms = [...required, ...preferred.map((weighted) => weighted.podAffinityTerm)];
    return terms.some((term) => term?.namespaces?.length > 0 || term?.namespaceSelector !== undefined);
  });
}
