import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { machineCgroups, type Cgroups } from '../../src/engine/node/drivers/cgroups/cgroups.ts';
import type { ContainerEnd, ContainerSpec, Driver, SecuritySpec } from '../../src/engine/node/drivers/driver.ts';
import { containerPlaces, type ContainerPlaces } from '../../src/engine/node/drivers/oci/container-places.ts';
import { createOciDriver } from '../../src/engine/node/drivers/oci/oci-driver.ts';
import { probeRuntimes } from '../../src/engine/node/drivers/oci/probe-runtimes.ts';
import type { OciRuntime } from '../../src/engine/node/drivers/oci/runtime.ts';
import type { Shim } from '../../src/engine/node/shim/shim.ts';
import { newUid } from '../../src/lib/ids.ts';
import { makeShimFolder, type ShimFolder } from '../conformance/node-driver/shim-folder.ts';
import { busyboxImage } from '../support/test-images.ts';
import { nodeTools } from './node-tools.ts';

/** A node without an agent: a shim, a driver and a folder, all of which are gone after `dispose`. */
export interface OciNode {
  driver: Driver;
  shim: Shim;
  cgroups: Cgroups;
  runtime: OciRuntime;
  places: ContainerPlaces;
  folder: ShimFolder;
  /** A driver as the next agent would have it. */
  nextDriver(): Promise<Driver>;
  /** A container of busybox in a Pod of its own, started. */
  run(spec: ContainerRequest): Promise<ContainerSpec>;
  /** Runs a shell script to its end. */
  script(text: string, spec?: ContainerRequest): Promise<{ output: string; end: ContainerEnd; spec: ContainerSpec }>;
  /** What a container has written, without the times. */
  output(spec: ContainerSpec): string;
  dispose(): Promise<void>;
}

export type ContainerRequest = Partial<Omit<ContainerSpec, 'security' | 'user' | 'limits'>> & {
  security?: Partial<SecuritySpec>;
  user?: Partial<ContainerSpec['user']>;
  limits?: Partial<ContainerSpec['limits']>;
};

/** Short, because some tests wait for it; long enough for a busy machine. */
const START_TIMEOUT_MS = 5000;

export async function makeOciNode(): Promise<OciNode> {
  await nodeTools('runc', 'busybox');
  const { cgroups, why } = await machineCgroups();
  if (!cgroups) throw new Error(`Cannot run containers: ${why}.`);
  const folder = await makeShimFolder();
  const dir = join(folder.dir, 'oci');
  const { runtime, tried } = await probeRuntimes({ dir, cgroups });
  if (!runtime) throw new Error(`Cannot run containers: ${JSON.stringify(tried)}.`);
  const driverOf = (shim: Shim): Driver =>
    createOciDriver({
      shim,
      dir,
      runtime,
      cgroups,
      programs: [process.execPath],
      hidden: [folder.dir],
      seccompFolder: join(folder.dir, 'seccomp'),
      startTimeoutMs: START_TIMEOUT_MS,
    });
  const shim = await folder.connect();
  const driver = driverOf(shim);
  const places = containerPlaces(dir);

  const run = async (request: ContainerRequest): Promise<ContainerSpec> => {
    const spec = containerSpec(folder.dir, request);
    mkdirSync(dirname(spec.logPath), { recursive: true });
    await driver.prepareSandbox({ pod: spec.pod, limits: spec.limits });
    await driver.start(spec);
    return spec;
  };
  const output = (spec: ContainerSpec): string => logText(spec.logPath);
  return {
    driver,
    shim,
    cgroups,
    runtime,
    places,
    folder,
    nextDriver: async () => driverOf(await folder.connect()),
    run,
    output,
    async script(text, request = {}) {
      const spec = await run({ command: ['sh', '-c', text], ...request });
      const end = await driver.ended(spec.id);
      return { output: output(spec), end, spec };
    },
    async dispose() {
      await (await (async () => driverOf(await folder.connect()))()).cleanUp(new Set());
      await folder.dispose();
      expectNothingLeft(cgroups, places, dir);
    },
  };
}

export function containerSpec(dir: string, request: ContainerRequest = {}): ContainerSpec {
  const uid = request.pod?.uid ?? newUid();
  const pod = request.pod ?? { namespace: 'test', name: 'pod', uid };
  const name = request.name ?? 'main';
  const attempt = request.attempt ?? 0;
  return {
    image: busyboxImage(),
    env: {},
    hostname: 'pod',
    mounts: [],
    terminal: false,
    stdin: false,
    stdinOnce: false,
    logPath: join(dir, 'logs', uid, name, `${attempt}.log`),
    ...request,
    id: `${uid}.${name}.${attempt}`,
    pod,
    name,
    attempt,
    user: { groups: [], mustNotBeRoot: false, ...request.user },
    limits: { pids: 64, memoryBytes: 64 << 20, ...request.limits },
    security: {
      privileged: false,
      readOnlyRoot: false,
      allowPrivilegeEscalation: true,
      addCapabilities: [],
      dropCapabilities: [],
      seccomp: { type: 'RuntimeDefault' },
      hostPid: false,
      hostIpc: false,
      ...request.security,
    },
  };
}

function logText(path: string): string {
  if (!existsSync(path)) return '';
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines
    .map((line) => {
      const [, , kind, ...text] = line.split(' ');
      return text.join(' ') + (kind === 'F' ? '\n' : '');
    })
    .join('');
}

/** Cgroups of the node, in whatever tree. */
export function kernelLeftovers(cgroups: Cgroups, places: ContainerPlaces): string[] {
  const trees = cgroups.version === 'v1' ? readdirSync('/sys/fs/cgroup').map((name) => `/sys/fs/cgroup/${name}`) : ['/sys/fs/cgroup'];
  return trees.map((tree) => join(tree, places.cgroup)).filter((path) => existsSync(path));
}

function expectNothingLeft(cgroups: Cgroups, places: ContainerPlaces, dir: string): void {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(dir));
  const left = kernelLeftovers(cgroups, places);
  if (mounts.length + left.length > 0) throw new Error(`Left behind: ${[...mounts, ...left].join(', ')}`);
}
