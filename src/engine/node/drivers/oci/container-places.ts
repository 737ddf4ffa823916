import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** Where everything of one data directory is: on disk below `dir`, in the kernel below one cgroup. */
export interface ContainerPlaces {
  /** The runtime's own records. */
  state: string;
  containers: string;
  pods: string;
  systemRoot: string;
  probeResult: string;
  /** Of all Pods of this data directory. */
  cgroup: string;
  container(id: string): ContainerPlace;
  pod(uid: string): PodPlace;
}

export interface ContainerPlace {
  /** The bundle too. */
  folder: string;
  config: string;
  process: string;
  pidFile: string;
  runtimeLog: string;
  cgroup: string;
}

export interface PodPlace {
  folder: string;
  sharedMemory: string;
  ipcNamespace: string;
  cgroup: string;
}

export interface ContainerName {
  podUid: string;
  name: string;
  attempt: number;
}

export function containerPlaces(dir: string): ContainerPlaces {
  // Two data directories on one machine never meet in the kernel.
  const cgroup = `/tenantry-${createHash('sha256').update(dir).digest('hex').slice(0, 12)}`;
  const pod = (uid: string): PodPlace => {
    const folder = join(dir, 'pods', uid);
    return { folder, sharedMemory: join(folder, 'shm'), ipcNamespace: join(folder, 'ipc'), cgroup: `${cgroup}/pod${uid}` };
  };
  return {
    state: join(dir, 'state'),
    containers: join(dir, 'containers'),
    pods: join(dir, 'pods'),
    systemRoot: join(dir, 'system-root'),
    probeResult: join(dir, 'runtime.json'),
    cgroup,
    pod,
    container(id) {
      const { podUid, name, attempt } = parseContainerId(id);
      const folder = join(dir, 'containers', id);
      return {
        folder,
        config: join(folder, 'config.json'),
        process: join(folder, 'process.json'),
        pidFile: join(folder, 'pid'),
        runtimeLog: join(folder, 'runtime.log'),
        cgroup: `${pod(podUid).cgroup}/${name}.${attempt}`,
      };
    },
  };
}

const ID = /^([A-Za-z0-9-]+)\.([A-Za-z0-9-]+)\.(\d+)$/;

/** `<pod uid>.<container>.<attempt>`. */
export function parseContainerId(id: string): ContainerName {
  const match = ID.exec(id);
  if (!match) throw new Error(`Cannot take "${id}" for a container: it is not of the form <pod uid>.<container>.<attempt>.`);
  return { podUid: match[1], name: match[2], attempt: Number(match[3]) };
}

export function isContainerId(id: string): boolean {
  return ID.test(id);
}
