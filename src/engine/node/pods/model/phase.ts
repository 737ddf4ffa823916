import type { Container, ContainerStatus, PodSpec } from '../../../../kube/generated/core-v1.ts';
import { isSidecar } from './pod-object.ts';
import { restartsAfter } from './restart-policy.ts';

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

/**
 * The phase that the states of the containers add up to.
 * @param ended the Pod is on its way out or past its end: nothing is started again, whatever the policy.
 * @param hasRun a main container runs or ran since the Pod's start: sidecars that start again do not make it Pending.
 */
export function phaseOf(spec: PodSpec, statuses: readonly ContainerStatus[], ended: boolean, hasRun: boolean): Phase {
  const init = initCounts(spec, statuses);
  if (init.failed) return 'Failed';
  const { running, waiting, stopped, stoppedForGood, succeeded, unknown, startingSidecars } = counts(spec, statuses);
  if (init.pending > 0 || (startingSidecars > 0 && !hasRun) || waiting > 0) return 'Pending';
  if (running > 0 && unknown === 0) return 'Running';
  if (running > 0 || stopped === 0 || unknown > 0) return 'Pending';
  if (!ended && stopped !== stoppedForGood) return 'Running';
  return stopped === succeeded ? 'Succeeded' : 'Failed';
}

function initCounts(spec: PodSpec, statuses: readonly ContainerStatus[]): { pending: number; failed: boolean } {
  let pending = 0;
  let failed = false;
  for (const container of spec.initContainers ?? []) {
    if (isSidecar(container)) continue;
    const status = find(statuses, container);
    const last = status?.state?.terminated ?? (status?.state?.waiting ? status.lastState?.terminated : undefined);
    if (!last) pending++;
    else if (last.exitCode !== 0 && !restartsAfter(container, spec, last.exitCode)) failed = true;
  }
  return { pending, failed };
}

function counts(spec: PodSpec, statuses: readonly ContainerStatus[]) {
  const sum = { running: 0, waiting: 0, stopped: 0, stoppedForGood: 0, succeeded: 0, unknown: 0, startingSidecars: 0 };
  for (const container of (spec.initContainers ?? []).filter(isSidecar)) {
    const status = find(statuses, container);
    if (!status) sum.unknown++;
    else if (status.state?.running) {
      sum.running++;
      if (!status.started) sum.startingSidecars++;
    } else if (status.state?.waiting && !status.lastState?.terminated) {
      sum.startingSidecars++;
      sum.waiting++;
    }
  }
  for (const container of spec.containers) {
    const status = find(statuses, container);
    const last = status?.state?.terminated ?? (status?.state?.waiting ? status.lastState?.terminated : undefined);
    if (!status) sum.unknown++;
    else if (status.state?.running) sum.running++;
    else if (!last) sum.waiting++;
    else {
      sum.stopped++;
      if (!restartsAfter(container, spec, last.exitCode)) sum.stoppedForGood++;
      if (status.state?.terminated && last.exitCode === 0) sum.succeeded++;
    }
  }
  return sum;
}

function find(statuses: readonly ContainerStatus[], { name }: Container): ContainerStatus | undefined {
  return statuses.find((status) => status.name === name);
}
