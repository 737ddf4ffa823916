import type { ContainerStatus, PodCondition, PodSpec, PodStatus } from '../../../../kube/generated/core-v1.ts';
import { formatTime } from '../../../../kube/time.ts';
import { containerStatuses, type ContainerFacts, type Waiting } from './container-statuses.ts';
import { containersReady, initialized, ISOLATED, isolated, podReady, type Finding } from './pod-conditions.ts';
import { phaseOf, type Phase } from './phase.ts';
import type { PodObject } from './pod-object.ts';

export interface StatusFacts extends Omit<ContainerFacts, 'spec' | 'deleted'> {
  pod: PodObject;
  waiting: ReadonlyMap<string, Waiting>;
  /** It is over: nothing runs any more, and nothing will. */
  ended: boolean;
  /** Why the Pod fails, whatever its containers say: refused, evicted, out of time. */
  failure?: { reason: string; message: string };
  /** The node never took it. */
  refused?: boolean;
  /** Further conditions of the node's making, such as DisruptionTarget. */
  conditions: readonly Finding[];
  sandboxReady: boolean;
  podIps: readonly string[];
  hostIps: readonly string[];
  missingIsolation: readonly string[];
  now: Date;
}

const OWN_CONDITIONS = new Set(['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', ISOLATED]);

/** The whole status of a Pod from what is known of it. Fields that are not the node's (PodScheduled, gates) come from the Pod. */
export function podStatus(facts: StatusFacts): PodStatus {
  const { pod, runs } = facts;
  const spec = pod.spec!;
  const before = pod.status ?? {};
  const deleted = pod.metadata.deletionTimestamp !== undefined;
  const containers: ContainerFacts = { ...facts, spec, deleted };
  const init = containerStatuses(containers, 'init');
  const main = containerStatuses(containers, 'main');
  const ephemeral = containerStatuses(containers, 'ephemeral');
  const all = [...init, ...main];
  const phase = settledPhase(facts, phaseOf(spec, all, facts.ended, hasActiveMain(spec, facts)));
  const status: PodStatus = {
    observedGeneration: pod.metadata.generation,
    phase,
    startTime: before.startTime ?? formatTime(facts.now),
    conditions: conditionsOf(facts, phase, all, main),
    containerStatuses: main,
  };
  if (init.length > 0) status.initContainerStatuses = init;
  if (ephemeral.length > 0) status.ephemeralContainerStatuses = ephemeral;
  if (before.qosClass) status.qosClass = before.qosClass;
  explain(status, facts, before);
  showAddresses(status, facts, before);
  if (runs.running().length === 0 && facts.failure) Object.assign(status, facts.failure);
  // As a kubelet: nothing is said of containers that nobody ever thought of making, so that the reason is what users see.
  if (facts.refused || wasRefused(before)) {
    delete status.containerStatuses;
    delete status.initContainerStatuses;
  }
  return status;
}

function wasRefused({ phase, containerStatuses: known = [] }: PodStatus): boolean {
  return phase === 'Failed' && known.length === 0;
}

/** A Pod never leaves a terminal phase, and does not enter one while anything of it runs. */
function settledPhase({ pod, runs, failure, ended }: StatusFacts, computed: Phase): Phase {
  const before = pod.status?.phase as Phase | undefined;
  if (before === 'Succeeded' || before === 'Failed') return before;
  const isEnd = computed === 'Succeeded' || computed === 'Failed';
  // Who ended without having succeeded has failed, also when it never came to run.
  const wanted = failure || (ended && !isEnd) ? 'Failed' : computed;
  const terminal = wanted === 'Succeeded' || wanted === 'Failed';
  return terminal && runs.running().length > 0 ? (before ?? 'Pending') : wanted;
}

function hasActiveMain(spec: PodSpec, { runs }: StatusFacts): boolean {
  return spec.containers.some(({ name }) => {
    const run = runs.newest(name);
    return run !== undefined && !run.stale;
  });
}

function explain(status: PodStatus, { failure }: StatusFacts, before: PodStatus): void {
  if (failure || status.phase !== before.phase) return;
  if (before.reason) status.reason = before.reason;
  if (before.message) status.message = before.message;
}

function showAddresses(status: PodStatus, { podIps, hostIps }: StatusFacts, before: PodStatus): void {
  if (hostIps.length > 0) {
    status.hostIP = hostIps[0];
    status.hostIPs = hostIps.map((ip) => ({ ip }));
  }
  const ips = podIps.length > 0 ? podIps : (before.podIPs ?? []).map(({ ip }) => ip);
  if (ips.length === 0) return;
  status.podIP = ips[0];
  status.podIPs = ips.map((ip) => ({ ip }));
}

function conditionsOf(facts: StatusFacts, phase: Phase, all: ContainerStatus[], main: ContainerStatus[]): PodCondition[] {
  const { pod, now } = facts;
  const spec = pod.spec!;
  const before = pod.status?.conditions ?? [];
  const own = new Set([...OWN_CONDITIONS, ...facts.conditions.map(({ type }) => type)]);
  const kept = before.filter(({ type }) => !own.has(type));
  const hasRun = main.some(({ state, lastState }) => state?.running ?? state?.terminated ?? lastState?.terminated);
  const ready = containersReady(spec, all, phase);
  const findings: Finding[] = [
    ...facts.conditions,
    { type: 'PodReadyToStartContainers', status: facts.sandboxReady ? 'True' : 'False' },
    initialized(spec, all, phase, hasRun),
    podReady(spec, ready, kept),
    ready,
    isolated(facts.missingIsolation),
  ];
  return [...kept, ...findings.map((finding) => dated(finding, before, pod.metadata.generation, now))];
}

/** The time of a condition is that of its last change of status. */
export function dated(finding: Finding, before: readonly PodCondition[], generation: number | undefined, now: Date): PodCondition {
  const old = before.find(({ type }) => type === finding.type);
  const changed = old?.status !== finding.status || !old.lastTransitionTime;
  return {
    ...finding,
    observedGeneration: generation,
    lastTransitionTime: changed ? formatTime(now) : old.lastTransitionTime,
  };
}
