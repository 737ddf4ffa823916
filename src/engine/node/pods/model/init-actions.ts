import type { Container, PodSpec } from '../../../../kube/generated/core-v1.ts';
import type { ContainerRun, ContainerRuns } from './container-runs.ts';
import type { PodActions, ProbeFindings } from './pod-actions.ts';
import { isSidecar } from './pod-object.ts';
import { restartsAfter } from './restart-policy.ts';

type Step = 'waits' | 'done' | 'failed';

/**
 * Finds the init container that is next, and the sidecars that have to be started again. Looked at from the last to the first, because
 * the record of an early one may be gone while a later one proves that it is done.
 * @returns whether initialization is complete, so that main containers may start.
 */
export function initActions(spec: PodSpec, runs: ContainerRuns, probes: ProbeFindings, actions: PodActions): boolean {
  const containers = spec.initContainers ?? [];
  if (containers.length === 0) return true;
  let initialized = spec.containers.some(({ name }) => {
    const run = runs.newest(name);
    return run !== undefined && run.end === undefined;
  });
  let laterOneRan = initialized;
  const starts: string[] = [];
  for (let index = containers.length - 1; index >= 0; index--) {
    const container = containers[index];
    const newest = runs.newest(container.name);
    const run = newest?.stale ? undefined : newest;
    if (!run) {
      if (laterOneRan && isSidecar(container)) starts.push(container.name);
      continue;
    }
    // Afterwards only sidecars need to be kept running.
    if (laterOneRan && !isSidecar(container)) continue;
    const step = isSidecar(container)
      ? sidecarStep(container, run, probes, actions, starts)
      : initStep(container, spec, run, actions, starts);
    if (step === 'failed') return false;
    if (step === 'done') {
      if (index === containers.length - 1) initialized = true;
      else if (!laterOneRan) starts.push(containers[index + 1].name);
    }
    laterOneRan = true;
  }
  if (!laterOneRan) starts.push(containers[0].name);
  actions.startInit = starts.toReversed();
  return initialized;
}

function initStep(container: Container, spec: PodSpec, { end }: ContainerRun, actions: PodActions, starts: string[]): Step {
  if (!end) return 'waits';
  if (end.exitCode === 0) return 'done';
  if (!restartsAfter(container, spec, end.exitCode)) {
    actions.end = true;
    actions.startInit = [];
    return 'failed';
  }
  starts.push(container.name);
  return 'waits';
}

function sidecarStep(container: Container, run: ContainerRun, probes: ProbeFindings, actions: PodActions, starts: string[]): Step {
  const { name } = container;
  if (run.end) {
    starts.push(name);
    return 'waits';
  }
  if (container.startupProbe) {
    const startup = probes.startup(run.id);
    if (startup === false) {
      actions.kill.push({ runId: run.id, name, reason: 'startupProbe', message: `Init container ${name} failed startup probe` });
      starts.push(name);
    }
    if (startup !== true) return 'waits';
  }
  if (container.livenessProbe && probes.liveness(run.id) === false) {
    actions.kill.push({ runId: run.id, name, reason: 'livenessProbe', message: `Init container ${name} failed liveness probe` });
    starts.push(name);
  }
  return 'done';
}
