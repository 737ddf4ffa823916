import { readdir } from 'node:fs/promises';
import type { Cgroups } from '../cgroups/cgroups.ts';
import { isContainerId, parseContainerId, type ContainerPlaces } from './container-places.ts';
import { mountCalls, mountsBelow } from './mount-calls.ts';

export interface CleanUp {
  places: ContainerPlaces;
  cgroups: Cgroups;
  livePodUids: ReadonlySet<string>;
  knownToShim: ReadonlySet<string>;
  removeContainer(id: string): Promise<void>;
  removeSandbox(podUid: string): Promise<void>;
}

/**
 * Removes what nobody will ask for any more: containers of Pods that are gone, and those that the shim does not know, of whatever Pod:
 * nobody holds their output or would learn of their end.
 */
export async function removeOrphans({ places, cgroups, livePodUids, knownToShim, removeContainer, removeSandbox }: CleanUp): Promise<void> {
  const found = new Set([...knownToShim, ...(await namesIn(places.containers)), ...(await namesIn(places.state))].filter(isContainerId));
  for (const id of found) if (!livePodUids.has(parseContainerId(id).podUid) || !knownToShim.has(id)) await removeContainer(id);
  for (const uid of await podsLeft(places, cgroups)) if (!livePodUids.has(uid)) await removeSandbox(uid);
  await removeStrayMounts(places, livePodUids);
  if (livePodUids.size === 0) await cgroups.remove(places.cgroup);
}

async function podsLeft(places: ContainerPlaces, cgroups: Cgroups): Promise<Set<string>> {
  const limited = (await cgroups.children(places.cgroup)).filter((name) => name.startsWith('pod')).map((name) => name.slice('pod'.length));
  return new Set([...limited, ...(await namesIn(places.pods))]);
}

async function removeStrayMounts(places: ContainerPlaces, livePodUids: ReadonlySet<string>): Promise<void> {
  for (const [folder, podOf] of [
    [places.containers, (name: string) => (isContainerId(name) ? parseContainerId(name).podUid : '')],
    [places.pods, (name: string) => name],
  ] as const) {
    for (const target of await mountsBelow(folder)) {
      const [name = ''] = target.slice(folder.length + 1).split('/');
      if (!livePodUids.has(podOf(name))) await (await mountCalls()).unmount(target);
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
