import { createHash } from 'node:crypto';
import { lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The kernel takes 107 bytes. */
const MOST_SOCKET_PATH_BYTES = 100;

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
  /** A path short enough for a socket, in a folder that is there and nobody else's. */
  consoleSocket(id: string): Promise<string>;
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
  const cgroup = `/tenantry-${hashOf(dir).slice(0, 12)}`;
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
    async consoleSocket(id) {
      const name = `${hashOf(id).slice(0, 12)}.sock`;
      const near = join(dir, 'consoles');
      const folder = near.length + name.length < MOST_SOCKET_PATH_BYTES ? near : join(tmpdir(), `tenantry-${hashOf(near).slice(0, 16)}`);
      await makePrivateFolder(folder);
      return join(folder, name);
    },
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

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** In a folder for all, another user may have been there first. */
async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const info = await lstat(folder);
  if (!info.isDirectory() || info.uid !== process.getuid?.())
    throw new Error(`Cannot use "${folder}": it belongs to another user; remove it, or use a data directory with a shorter path.`);
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
