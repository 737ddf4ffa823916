import type { ContainerStatus, PodCondition, PodSpec } from '../../../../kube/generated/core-v1.ts';
import { quote } from '../../../../kube/go-text.ts';
import type { Phase } from './phase.ts';
import { isSidecar, sidecarsOf } from './pod-object.ts';

/** What a condition says; times and generations are added where it is compared with the one before. */
export type Finding = Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>;

export function containersReady(spec: PodSpec, statuses: readonly ContainerStatus[], phase: Phase): Finding {
  const type = 'ContainersReady';
  const unknown: string[] = [];
  const unready: string[] = [];
  for (const { name } of [...sidecarsOf(spec), ...spec.containers]) {
    const status = statuses.find((candidate) => candidate.name === name);
    if (!status) unknown.push(name);
    else if (!status.ready) unready.push(name);
  }
  if (phase === 'Succeeded' && unknown.length === 0) return { type, status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { type, status: 'False', reason: 'PodFailed' };
  const message = sentences(unknown, unready, 'unready');
  return message === '' ? { type, status: 'True' } : { type, status: 'False', reason: 'ContainersNotReady', message };
}

export function podReady(spec: PodSpec, containers: Finding, conditions: readonly PodCondition[]): Finding {
  const type = 'Ready';
  if (containers.status !== 'True') return { ...containers, type };
  const messages: string[] = [];
  for (const { conditionType } of spec.readinessGates ?? []) {
    const gate = conditions.find((condition) => condition.type === conditionType);
    if (!gate) messages.push(`corresponding condition of pod readiness gate ${quote(conditionType)} does not exist.`);
    else if (gate.status !== 'True') {
      messages.push(`the status of pod readiness gate ${quote(conditionType)} is not "True", but ${gate.status}`);
    }
  }
  if (messages.length > 0) return { type, status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') };
  return { type, status: 'True' };
}

export function initialized(spec: PodSpec, statuses: readonly ContainerStatus[], phase: Phase, hasRun: boolean): Finding {
  const type = 'Initialized';
  const unknown: string[] = [];
  const incomplete: string[] = [];
  for (const container of spec.initContainers ?? []) {
    const status = statuses.find((candidate) => candidate.name === container.name);
    if (!status) unknown.push(container.name);
    else if (isSidecar(container) ? !status.started : !status.ready) incomplete.push(container.name);
  }
  if (phase === 'Succeeded' && unknown.length === 0) return { type, status: 'True', reason: 'PodCompleted' };
  const message = hasRun ? '' : sentences(unknown, incomplete, 'incomplete');
  return message === '' ? { type, status: 'True' } : { type, status: 'False', reason: 'ContainersNotInitialized', message };
}

/** Ours: says what the driver does not keep apart on this machine. */
export const ISOLATED = 'tenantry.dev/Isolated';

export function isolated(missing: readonly string[]): Finding {
  if (missing.length === 0) return { type: ISOLATED, status: 'True', reason: 'Contained' };
  return { type: ISOLATED, status: 'False', reason: 'IsolationMissing', message: `not isolated on this node: ${missing.join(', ')}` };
}

function sentences(unknown: string[], rest: string[], word: string): string {
  const parts: string[] = [];
  if (unknown.length > 0) parts.push(`containers with unknown status: [${unknown.join(' ')}]`);
  if (rest.length > 0) parts.push(`containers with ${word} status: [${rest.join(' ')}]`);
  return parts.join(', ');
}
