import type { Container } from '../../../../kube/generated/core-v1.ts';
import type { KillReason } from './pod-actions.ts';
import type { PodObject } from './pod-object.ts';

/** Nobody is killed without this much time to end by itself. */
export const MINIMUM_GRACE_SECONDS = 2;

/** How long a container may take to end, in seconds. A deletion says it for the whole Pod, else a failed probe may say it. */
export function graceSeconds(
  pod: PodObject,
  container: Pick<Container, 'startupProbe' | 'livenessProbe'> | undefined,
  reason: KillReason,
): number {
  const { deletionGracePeriodSeconds } = pod.metadata;
  if (deletionGracePeriodSeconds !== undefined) return deletionGracePeriodSeconds;
  const { terminationGracePeriodSeconds = MINIMUM_GRACE_SECONDS } = pod.spec!;
  if (reason === 'startupProbe') return container?.startupProbe?.terminationGracePeriodSeconds ?? terminationGracePeriodSeconds;
  if (reason === 'livenessProbe') return container?.livenessProbe?.terminationGracePeriodSeconds ?? terminationGracePeriodSeconds;
  return terminationGracePeriodSeconds;
}

/** What must have ended before a container is told to: sidecars outlive the main containers, and end in the reverse of their order. */
export function endsAfter(pod: PodObject, name: string): string[] {
  const spec = pod.spec!;
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always').map((container) => container.name);
  const index = sidecars.indexOf(name);
  if (index < 0) return [];
  return [...spec.containers.map((container) => container.name), ...sidecars.slice(index + 1)];
}
