import { createHash } from 'node:crypto';
import type { ContainerSpec } from '../../driver.ts';

export interface ContainerUser {
  uid: number;
  gid: number;
  groups: number[];
}

/** Above what distributions, service managers and container tools give out, and within what the kernel takes. */
const FIRST_POD_USER = 0x7000_0000;
const POD_USERS = 0x0fff_0000;

/**
 * Whom a container runs as when we are root. A Pod that names nobody gets a user of its own, always the same: nothing else on the
 * machine belongs to it, so its processes can neither signal nor read those of another Pod.
 */
export function containerUser({ user, pod }: Pick<ContainerSpec, 'user' | 'pod'>): ContainerUser {
  const uid = user.uid ?? podUser(pod.uid);
  return { uid, gid: user.gid ?? (user.uid === undefined ? uid : 0), groups: user.groups };
}

export function podUser(podUid: string): number {
  return FIRST_POD_USER + (createHash('sha256').update(podUid).digest().readUInt32BE(0) % POD_USERS);
}
