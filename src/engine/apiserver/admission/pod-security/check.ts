import type { Json, ObjectMeta } from '../../../../kube/object.ts';
import type { Level } from './policy.ts';

/** Why a pod is not allowed: the short reason for lists of pods, and the detail for one pod. */
export interface Violation {
  reason: string;
  detail: string;
}

export type CheckPod = (spec: Json, metadata: ObjectMeta) => Violation | undefined;

export interface Check {
  id: string;
  level: Exclude<Level, 'privileged'>;
  /** Oldest first; each holds from its minor of Kubernetes 1.x until the next one's. */
  versions: { since: number; check: CheckPod; overrides?: string[] }[];
}

export function allContainers(spec: Json): Json[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
}

export function joinQuoted(items: Iterable<string>): string {
  const list = [...items];
  return list.length === 0 ? '' : `"${list.join('", "')}"`;
}

export function sorted(items: Iterable<string>): string[] {
  return [...new Set(items)].sort();
}

export function plural(count: number, singular: string, many = `${singular}s`): string {
  return count === 1 ? singular : many;
}

/** `container "a"`, `containers "a", "b"`. */
export function containersText(names: string[]): string {
  return `${plural(names.length, 'container')} ${joinQuoted(names)}`;
}

/** Who set a bad value: the pod, some containers, or both. */
export function settersText(pod: boolean, containers: string[]): string {
  const setters = pod ? ['pod'] : [];
  if (containers.length > 0) setters.push(containersText(containers));
  return setters.join(' and ');
}

export function exceptOnWindows(check: CheckPod): CheckPod {
  return (spec, metadata) => (spec.os?.name === 'windows' ? undefined : check(spec, metadata));
}

/** A pod in a user namespace of its own cannot hurt the host with what the check forbids. */
export function exceptInUserNamespace(check: CheckPod): CheckPod {
  return (spec, metadata) => (spec.hostUsers === false ? undefined : check(spec, metadata));
}
