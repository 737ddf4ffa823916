import type { Container, PodSpec } from '../../../../kube/generated/core-v1.ts';
import type { ContainerRun, ContainerRuns } from './container-runs.ts';
import { initActions } from './init-actions.ts';
import { everyContainer, type PodObject } from './pod-object.ts';
import { restartsAfter, restartsAfterKill } from './restart-policy.ts';

/** What the probes have found about the run of a container; absent: nothing yet, or no such probe. */
export interface ProbeFindings {
  startup(runId: string): boolean | undefined;
  liveness(runId: string): boolean | undefined;
  readiness(runId: string): boolean | undefined;
}

export type KillReason = 'startupProbe' | 'livenessProbe' | 'changed' | 'postStartHook' | 'podEnds';

export interface Kill {
  runId: string;
  name: string;
  reason: KillReason;
  /** Of the event. */
  message: string;
}

/** What has to happen next for a Pod that shall run. */
export interface PodActions {
  /** Nothing is left to run: whatever still does (sidecars) is stopped. */
  end: boolean;
  kill: Kill[];
  /** Names, in order. Init containers start one after the other, each after the one before is done. */
  startEphemeral: string[];
  startInit: string[];
  start: string[];
}

/** Compares what a Pod wants with what runs. Takes no time and does nothing: the same input gives the same actions. */
export function podActions(pod: PodObject, runs: ContainerRuns, probes: ProbeFindings): PodActions {
  const spec = pod.spec!;
  const actions: PodActions = { end: false, kill: [], startEphemeral: [], startInit: [], start: [] };
  for (const { name } of spec.ephemeralContainers ?? []) if (!runs.newest(name)) actions.startEphemeral.push(name);
  if (hasNothingLeftAfterRestart(spec, runs)) return { ...actions, end: true };
  const initialized = initActions(spec, runs, probes, actions);
  if (actions.end || !initialized) return actions;

  let kept = 0;
  for (const container of spec.containers) {
    const run = runs.newest(container.name);
    if (!run || run.end) {
      if (!run || restartsAfter(container, spec, run.end!.exitCode)) actions.start.push(container.name);
      continue;
    }
    const reason = hasChanged(container, run) ? 'changed' : failedProbe(container, run.id, probes);
    if (!reason) {
      kept++;
      continue;
    }
    const restarts = reason === 'changed' || restartsAfterKill(container, spec);
    if (restarts) actions.start.push(container.name);
    const message = `Container ${container.name} ${FAULTS[reason]}`;
    actions.kill.push({ runId: run.id, name: container.name, reason, message: restarts ? `${message}, will be restarted` : message });
  }
  if (kept === 0 && actions.start.length === 0) {
    actions.end = true;
    // Sidecars alone do not keep a Pod alive.
    actions.startInit = [];
  }
  return actions;
}

const FAULTS = { changed: 'definition changed', livenessProbe: 'failed liveness probe', startupProbe: 'failed startup probe' };

/** The image is all that may change in a container of a Pod that exists. */
function hasChanged({ image }: Container, run: ContainerRun): boolean {
  return run.requestedImage !== undefined && run.requestedImage !== image;
}

/** After a restart of the machine a Pod begins again from its first init container, unless its policy says that it has had its chance. */
function hasNothingLeftAfterRestart(spec: PodSpec, runs: ContainerRuns): boolean {
  const newest = everyContainer(spec).flatMap(({ name }) => runs.newest(name) ?? []);
  if (newest.length === 0 || !newest.every((run) => run.stale)) return false;
  if (spec.restartPolicy === 'Never') return true;
  const mains = spec.containers.map((container) => ({ container, run: runs.newest(container.name) }));
  return (
    mains.some(({ run }) => run) && mains.every(({ container, run }) => run && !restartsAfter(container, spec, run.end?.exitCode ?? 137))
  );
}

export function failedProbe(
  container: Pick<Container, 'livenessProbe' | 'startupProbe'>,
  runId: string,
  probes: ProbeFindings,
): 'livenessProbe' | 'startupProbe' | undefined {
  if (container.livenessProbe && probes.liveness(runId) === false) return 'livenessProbe';
  if (container.startupProbe && probes.startup(runId) === false) return 'startupProbe';
  return undefined;
}
