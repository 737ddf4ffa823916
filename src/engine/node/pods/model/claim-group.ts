import { createHash } from 'node:crypto';
import type { PodObject } from './pod-object.ts';

/** Where no user, service or container tool of the machine has its groups. */
const FIRST_GROUP = 0x6000_0000;
const GROUPS = 0x0fff_0000;

/**
 * As root, the process driver runs every Pod that names no user as one of its own. What such a Pod leaves on a persistent volume the next
 * one could not change. So Pods with claims share a group with their namespace, unless they say which themselves.
 */
export function withClaimGroup(pod: PodObject): PodObject {
  const spec = pod.spec!;
  const { securityContext } = spec;
  const hasClaim = spec.volumes?.some(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim ?? ephemeral);
  if (!hasClaim || securityContext?.fsGroup !== undefined || securityContext?.runAsUser !== undefined) return pod;
  const fsGroup = FIRST_GROUP + (createHash('sha256').update(pod.metadata.namespace!).digest().readUInt32BE(0) % GROUPS);
  return { ...pod, spec: { ...spec, securityContext: { ...securityContext, fsGroup } } };
}
