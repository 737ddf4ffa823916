import { posix } from 'node:path';
import type { Json, KubeObject } from '../../../../kube/object.ts';

/** Containers of all sorts. */
export function containersOf({ spec }: KubeObject): Json[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])];
}

/** Volumes that some container mounts: nobody waits for the others. */
export function usedVolumes(pod: KubeObject): Json[] {
  const used = new Set<string>();
  for (const { volumeMounts, volumeDevices } of containersOf(pod)) {
    for (const { name } of [...(volumeMounts ?? []), ...(volumeDevices ?? [])]) used.add(name);
  }
  return (pod.spec?.volumes ?? []).filter(({ name }: Json) => used.has(name));
}

export function isUsedAsDevice(pod: KubeObject, volume: string): boolean {
  return containersOf(pod).some(({ volumeDevices }) => volumeDevices?.some(({ name }: Json) => name === volume));
}

/** The user of all containers; undefined when they differ or one leaves it to its image. */
export function userOf(pod: KubeObject): number | undefined {
  const users = containersOf(pod).map(
    ({ securityContext }): number | undefined => securityContext?.runAsUser ?? pod.spec?.securityContext?.runAsUser,
  );
  return users.every((user) => user === users[0]) ? users[0] : undefined;
}

/**
 * Folders that other mounts of the same container need inside this volume, which the container cannot make itself because the volume is
 * read-only for it.
 */
export function nestedMountPoints(pod: KubeObject, volume: string): string[] {
  const nested = new Set<string>();
  for (const { volumeMounts } of containersOf(pod)) {
    const mounts: { name: string; path: string }[] = (volumeMounts ?? []).map(({ name, mountPath }: Json) => ({
      name,
      path: posix.normalize(mountPath).replace(/(?<=.)\/$/, ''),
    }));
    const all = mounts.map(({ path }) => path).toSorted();
    for (const { path: own } of mounts.filter(({ name }) => name === volume)) {
      const made: string[] = [];
      for (const path of all) {
        if (!path.startsWith(`${own}/`) || made.some((outer) => path.startsWith(`${outer}/`))) continue;
        made.push(path);
        nested.add(path.slice(own.length + 1));
      }
    }
  }
  return [...nested];
}

/** Outer mounts before those inside them. */
export function outerFirst<T extends { target: string }>(mounts: readonly T[]): T[] {
  const depth = ({ target }: T): number => target.split('/').filter(Boolean).length;
  return mounts.toSorted((a, b) => depth(a) - depth(b));
}
