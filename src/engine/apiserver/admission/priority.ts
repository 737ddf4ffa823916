import type { Json, KubeObject } from '../../../kube/object.ts';
import type { ObjectReader } from '../registry/objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts';
import { CachedList } from './cached-list.ts';
import { isOn, refusal } from './refusal.ts';

const PRIORITY_CLASSES = { group: 'scheduling.k8s.io', resource: 'priorityclasses' };
const SYSTEM_CRITICAL = 2_000_000_000;

/** Every cluster has these two; the server makes them at its first start. */
export const SYSTEM_PRIORITY_CLASSES: KubeObject[] = [
  {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'system-node-critical' },
    value: SYSTEM_CRITICAL + 1000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
  {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'system-cluster-critical' },
    value: SYSTEM_CRITICAL,
    description: 'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
];

/** Turns a pod's priorityClassName into its priority, and keeps the default class single. */
export function priority(reader: ObjectReader): AdmissionPlugin {
  const classes = new CachedList(reader, PRIORITY_CLASSES);
  return {
    name: 'Priority',
    handles: (request) =>
      request.subresource === '' &&
      (request.operation === 'CREATE' || request.operation === 'UPDATE') &&
      (isOn(request, '', 'pods') || isOn(request, 'scheduling.k8s.io', 'priorityclasses')),
    mutate(request) {
      if (request.resource.resource !== 'pods') return;
      if (request.operation === 'UPDATE') keepPriority(request.object!.spec, request.oldObject!.spec);
      else setPriority(request, classes.in(''));
    },
    validate(request) {
      if (request.resource.resource === 'pods' || !request.object!.globalDefault) return;
      const current = defaultClass(classes.in(''));
      if (!current || (request.operation === 'UPDATE' && current.metadata.name === request.object!.metadata.name)) return;
      throw refusal(request, `PriorityClass ${current.metadata.name} is already marked as default. Only one default can exist`);
    },
  };
}

function keepPriority(spec: Json, old: Json): void {
  if (spec.priority === undefined && old.priority !== undefined) spec.priority = old.priority;
  if (spec.preemptionPolicy === undefined && old.preemptionPolicy !== undefined) spec.preemptionPolicy = old.preemptionPolicy;
}

function setPriority(request: AdmissionRequest, classes: readonly KubeObject[]): void {
  const spec: Json = request.object!.spec;
  const found = spec.priorityClassName
    ? classes.find((candidate) => candidate.metadata.name === spec.priorityClassName)
    : defaultClass(classes);
  if (spec.priorityClassName && !found) {
    throw refusal(request, `no PriorityClass with name ${spec.priorityClassName} was found`);
  }
  if (found) spec.priorityClassName = found.metadata.name;
  const computed: number = found?.value ?? 0;
  if (spec.priority !== undefined && spec.priority !== computed) {
    throw refusal(
      request,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`,
    );
  }
  spec.priority = computed;
  setPreemptionPolicy(request, found ? found.preemptionPolicy : 'PreemptLowerPriority');
}

function setPreemptionPolicy(request: AdmissionRequest, policy: string | undefined): void {
  const spec: Json = request.object!.spec;
  if (policy === undefined) return;
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
    throw refusal(
      request,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    );
  }
  spec.preemptionPolicy = policy;
}

/** Should several be marked, the one with the lowest value. */
function defaultClass(classes: readonly KubeObject[]): KubeObject | undefined {
  let lowest: KubeObject | undefined;
  for (const candidate of classes) {
    if (candidate.globalDefault && (!lowest || candidate.value < lowest.value)) lowest = candidate;
  }
  return lowest;
}
