import type { Json } from '../../../../kube/object.ts';
import { formatTime } from '../../../../kube/time.ts';
import { copyField, copyMetadata, keepAllBut, keepMetadata, type KindBehaviour } from './standard.ts';
import { qualityOfService } from './pod-quality.ts';

export const POD: KindBehaviour = {
  tracksGeneration: true,
  resetFields: { '': ['status'], status: ['spec', 'metadata.deletionTimestamp', 'metadata.ownerReferences'] },
  onCreate(pod, context) {
    const qosClass = qualityOfService(pod.spec);
    const isGated = pod.spec.schedulingGates?.length > 0;
    pod.status = isGated ? { phase: 'Pending', conditions: [gated(context.now())], qosClass } : { phase: 'Pending', qosClass };
    addMatchedLabels(pod);
  },
  // A binding says where the Pod is, in its spec and its status alike; the server itself writes it.
  subresources: { status: updateStatus, ephemeralcontainers: updateEphemeralContainers, resize: updateResources, binding: () => {} },
  gracePeriod(pod, requested) {
    const isRunning = pod['spec'].nodeName && pod['status']?.phase !== 'Failed' && pod['status']?.phase !== 'Succeeded';
    if (!isRunning) return 0;
    const period = requested ?? pod['spec'].terminationGracePeriodSeconds ?? 0;
    return period < 0 ? 1 : period;
  },
};

function gated(now: Date): Json {
  return {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: formatTime(now),
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
  };
}

/** Affinity terms and spread constraints may name labels whose values the Pod itself gives; its own labels turn them into selectors. */
function addMatchedLabels(pod: Json): void {
  const labels = pod.metadata.labels;
  if (!labels) return;
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const affinity = pod.spec.affinity?.[kind];
    for (const term of affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) matchLabels(term, labels);
    for (const weighted of affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []) matchLabels(weighted.podAffinityTerm, labels);
  }
  for (const constraint of pod.spec.topologySpreadConstraints ?? []) matchLabels(constraint, labels);
}

function matchLabels(term: Json, labels: Record<string, string>): void {
  if (!term.labelSelector) return;
  const add = (keys: string[] | undefined, operator: string): void => {
    for (const key of keys ?? []) {
      if (labels[key] === undefined) continue;
      (term.labelSelector.matchExpressions ??= []).push({ key, operator, values: [labels[key]] });
    }
  };
  add(term.matchLabelKeys, 'In');
  add(term.mismatchLabelKeys, 'NotIn');
}

function updateStatus(pod: Json, old: Json): void {
  keepAllBut(pod, old, 'status');
  copyMetadata(pod, old, 'deletionTimestamp', 'ownerReferences');
  if (pod.status.qosClass === undefined) copyField(pod.status, old.status, 'qosClass');
  if (pod.status.observedGeneration === undefined) copyField(pod.status, old.status, 'observedGeneration');
  keepObservedGenerations(pod.status.conditions ?? [], old.status.conditions ?? []);
}

/** A client that does not know observedGeneration must not clear it. Types may repeat, so they are matched in order. */
function keepObservedGenerations(conditions: Json[], old: Json[]): void {
  const left = [...old];
  for (const condition of conditions) {
    const index = left.findIndex((candidate) => candidate.type === condition.type);
    const [before] = index < 0 ? [] : left.splice(index, 1);
    if (condition.observedGeneration === undefined && before?.observedGeneration !== undefined) {
      condition.observedGeneration = before.observedGeneration;
    }
  }
}

function updateEphemeralContainers(pod: Json, old: Json): void {
  const { ephemeralContainers } = pod.spec;
  keepAllBut(pod, old, 'metadata');
  keepMetadata(pod, old);
  pod.spec = { ...old.spec, ephemeralContainers };
  if (ephemeralContainers === undefined) delete pod.spec.ephemeralContainers;
}

function updateResources(pod: Json, old: Json): void {
  const { containers, initContainers = [] } = pod.spec;
  const before = old.spec.initContainers ?? [];
  // More or fewer containers are refused by validation, which must see them.
  if (containers.length !== old.spec.containers.length || initContainers.length !== before.length) return;
  keepAllBut(pod, old, 'metadata');
  keepMetadata(pod, old);
  pod.spec = { ...old.spec, containers: resized(containers, old.spec.containers) };
  if (initContainers.length > 0) pod.spec.initContainers = resized(initContainers, before);
}

function resized(containers: Json[], old: Json[]): Json[] {
  if (containers.some((container, index) => container.name !== old[index].name)) return containers;
  return old.map((before, index) => {
    const container = { ...before };
    copyField(container, containers[index], 'resources');
    copyField(container, containers[index], 'resizePolicy');
    return container;
  });
}
