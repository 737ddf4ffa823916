import { mkdir, writeFile } from 'node:fs/promises';
import { ContainerError, type ContainerSpec } from '../driver.ts';
import type { ContainerPlaces } from './container-places.ts';
import { textInRoot } from './file-in-root.ts';
import { exists, machineDevices, type MachineFacts } from './machine-facts.ts';
import { containerConfig } from './model/container-config.ts';
import type { ProcessConfig, RuntimeConfig } from './model/runtime-config.ts';
import { processUser, refuseRoot } from '../model/user.ts';
import { mountRoot } from './root-filesystem.ts';
import { localSeccompProfile } from './seccomp-file.ts';
import type { SystemRoot } from './system-root.ts';

export interface BundleMaker {
  places: ContainerPlaces;
  facts: MachineFacts;
  seccompFolder: string;
  systemRoot(): Promise<SystemRoot>;
}

/** Mounts the container's files and writes what the runtime needs to know about it. Who calls undoes it when it throws. */
export async function makeBundle(maker: BundleMaker, spec: ContainerSpec): Promise<RuntimeConfig> {
  refuseRoot(spec, spec.image.config.user);
  const localProfile = await localSeccompProfile(spec.security, maker.seccompFolder);
  const place = maker.places.container(spec.id);
  await mkdir(place.folder, { recursive: true, mode: 0o700 });
  const system = 'builtIn' in spec.image.root ? await maker.systemRoot() : undefined;
  const root = await mountLayers(place.folder, 'layers' in spec.image.root ? spec.image.root.layers : [system!.layer]);
  const config = containerConfig(spec, {
    root,
    cgroup: place.cgroup,
    user: await userOf(spec, root, system),
    ...(await sharedByPod(maker.places, spec)),
    system: system?.mounts ?? [],
    programFolder: system?.programFolder,
    capabilities: maker.facts.capabilities,
    machine: maker.facts.resources,
    localProfile,
    devices: spec.security.privileged ? await machineDevices() : [],
  });
  await writeFile(place.config, JSON.stringify(config), { mode: 0o600 });
  await writeFile(place.process, JSON.stringify(config.process satisfies ProcessConfig), { mode: 0o600 });
  return config;
}

async function mountLayers(folder: string, layers: string[]): Promise<string> {
  try {
    return await mountRoot(folder, layers);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ContainerError('CreateContainerError', `failed to mount the root file system: ${why}`, { cause: error });
  }
}

async function sharedByPod(places: ContainerPlaces, spec: ContainerSpec): Promise<{ sharedMemory: string; ipcNamespace?: string }> {
  const { sharedMemory, ipcNamespace } = places.pod(spec.pod.uid);
  return (await exists(ipcNamespace)) ? { sharedMemory, ipcNamespace } : { sharedMemory };
}

async function userOf(spec: ContainerSpec, root: string, system: SystemRoot | undefined): Promise<ReturnType<typeof processUser>> {
  // The machine's own files are not in the root yet: the runtime mounts them.
  const folder = system ? '/' : root;
  const [passwd, group] = await Promise.all([textInRoot(folder, '/etc/passwd'), textInRoot(folder, '/etc/group')]);
  return processUser(spec.user, spec.image.config.user, passwd, group);
}
