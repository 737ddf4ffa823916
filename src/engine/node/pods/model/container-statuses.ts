import type { Container, ContainerState, ContainerStatus, PodSpec } from '../../../../kube/generated/core-v1.ts';
import { formatTime } from '../../../../kube/time.ts';
import type { ContainerRun, ContainerRuns } from './container-runs.ts';
import type { ProbeFindings } from './pod-actions.ts';
import { isSidecar } from './pod-object.ts';
import { restartsAfter } from './restart-policy.ts';

/** Why a container that should run does not: CrashLoopBackOff, ErrImagePull, ... */
export interface Waiting {
  reason: string;
  message?: string;
}

export interface ContainerFacts {
  spec: PodSpec;
  deleted: boolean;
  runs: ContainerRuns;
  waiting: ReadonlyMap<string, Waiting>;
  probes: ProbeFindings;
  /** `process` or `oci`: the scheme of container ids. */
  driver: string;
}

type Role = 'init' | 'main' | 'ephemeral';

export function containerStatuses(facts: ContainerFacts, role: Role): ContainerStatus[] {
  const { spec } = facts;
  switch (role) {
    case 'init':
      return (spec.initContainers ?? []).map((container) => statusOf(container, facts, role));
    case 'ephemeral':
      return (spec.ephemeralContainers ?? []).map((container) => statusOf(container, facts, role));
    case 'main':
      return spec.containers.map((container) => statusOf(container, facts, role)).sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

function statusOf(container: Container, facts: ContainerFacts, role: Role): ContainerStatus {
  const { name, image = '', volumeMounts = [] } = container;
  const run = facts.runs.newest(name);
  const previous = facts.runs.previous(name);
  const status: ContainerStatus = {
    name,
    image: run?.image?.name ?? image,
    imageID: run?.image?.id ?? '',
    ready: false,
    restartCount: run?.attempt ?? 0,
    started: false,
    state: run ? stateOf(run, facts.driver) : { waiting: { reason: defaultReason(facts.spec) } },
    lastState: previous?.end ? stateOf(previous, facts.driver) : {},
  };
  if (run) status.containerID = `${facts.driver}://${run.id}`;
  if (volumeMounts.length > 0)
    status.volumeMounts = volumeMounts.map(({ name: volume, mountPath, readOnly }) => mountStatus(volume, mountPath, readOnly));
  const { resources } = container;
  if (run && resources && Object.keys(resources).length > 0) {
    status.resources = resources;
    if (resources.requests) status.allocatedResources = resources.requests;
  }
  showWaiting(status, container, facts, run, role);
  status.started = isStarted(container, facts, run);
  status.ready = isReady(container, facts, run, role, status.started);
  return status;
}

function mountStatus(name: string, mountPath: string, readOnly: boolean | undefined): NonNullable<ContainerStatus['volumeMounts']>[number] {
  return readOnly ? { name, mountPath, readOnly, recursiveReadOnly: 'Disabled' } : { name, mountPath };
}

function defaultReason({ initContainers = [] }: PodSpec): string {
  return initContainers.length > 0 ? 'PodInitializing' : 'ContainerCreating';
}

export function stateOf({ id, startedAt, end }: ContainerRun, driver: string): ContainerState {
  if (!end) return { running: { startedAt: formatTime(startedAt) } };
  const { exitCode, reason, message, finishedAt } = end;
  return {
    terminated: {
      exitCode,
      reason,
      ...(message ? { message } : {}),
      startedAt: formatTime(startedAt),
      finishedAt: formatTime(finishedAt),
      containerID: `${driver}://${id}`,
    },
  };
}

/** A container that will be started again, and could not be yet, waits; how it ended is then its last state. */
function showWaiting(
  status: ContainerStatus,
  container: Container,
  { spec, deleted, waiting }: ContainerFacts,
  run: ContainerRun | undefined,
  role: Role,
): void {
  const reason = waiting.get(container.name);
  if (!reason || deleted || (run && !run.end)) return;
  if (run?.end && role === 'init' && run.end.exitCode === 0 && !isSidecar(container)) return;
  if (run?.end && !restartsAfter(container, spec, run.end.exitCode)) return;
  if (run?.end) status.lastState = status.state;
  status.state = { waiting: { ...reason } };
}

function isStarted(container: Container, { probes }: ContainerFacts, run: ContainerRun | undefined): boolean {
  if (!run || run.end) return false;
  return !container.startupProbe || probes.startup(run.id) === true;
}

function isReady(container: Container, { probes }: ContainerFacts, run: ContainerRun | undefined, role: Role, started: boolean): boolean {
  if (role === 'ephemeral') return false;
  if (role === 'init' && !isSidecar(container)) return run?.end?.exitCode === 0;
  if (!run || run.end || !started) return false;
  return !container.readinessProbe || probes.readiness(run.id) === true;
}
