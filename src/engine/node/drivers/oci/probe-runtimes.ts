import { accessSync, constants } from 'node:fs';
import { mkdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { release } from 'node:os';
import { delimiter, join } from 'node:path';
import { newUid } from '../../../../lib/ids.ts';
import type { Cgroups } from '../cgroups/cgroups.ts';
import type { ContainerSpec } from '../driver.ts';
import { makeBundle } from './bundle.ts';
import { containerPlaces, type ContainerPlaces } from './container-places.ts';
import { machineFacts } from './machine-facts.ts';
import { unmountBelow } from './mount-calls.ts';
import { removeRoot } from './root-filesystem.ts';
import { runDelete, runtimeArguments, runtimeCommand, type OciRuntime, type OciRuntimeName } from './runtime.ts';
import { makeSandbox, unmakeSandbox } from './sandbox.ts';
import { makeSystemRoot, type SystemRoot } from './system-root.ts';

export interface ProbeOptions {
  /** The driver's own folder, where the result is kept: probing starts a container, which is slow. */
  dir: string;
  cgroups: Cgroups | undefined;
  /** Why there are none. */
  cgroupsMissing?: string;
  /** Where programs are looked for. */
  path?: string;
  /** Which ones to try, in order. */
  candidates?: readonly OciRuntimeName[];
  userId?: number;
  timeoutMs?: number;
}

export interface ProbeResult {
  runtime?: OciRuntime;
  /** Those that do not work, with the reason. */
  tried: { name: OciRuntimeName; why: string }[];
}

interface FoundProgram {
  name: OciRuntimeName;
  path: string | undefined;
}

interface RememberedResult {
  key: string;
  result: ProbeResult;
}

const RUNTIMES: OciRuntimeName[] = ['runc', 'crun', 'runsc'];
/** Folders that a PATH may lack. */
const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
const PROBE_TIMEOUT_MS = 10_000;

/** The first runtime that really runs a container here, with everything that ours are made of: layers, limits, filter. */
export async function probeRuntimes(options: ProbeOptions): Promise<ProbeResult> {
  const candidates = options.candidates ?? RUNTIMES;
  const refused = refusal(options);
  if (refused) return { tried: candidates.map((name) => ({ name, why: refused })) };
  await mkdir(options.dir, { recursive: true, mode: 0o700 });
  // The kernel tells mount points by their real path.
  const dir = await realpath(options.dir);
  const { probeResult } = containerPlaces(dir);
  const programs = candidates.map((name) => ({ name, path: findProgram(name, options.path ?? process.env['PATH'] ?? '') }));
  const key = await probeKey(programs, options.cgroups!);
  const remembered = await readResult(probeResult);
  if (remembered?.key === key) return remembered.result;
  const result = await firstThatWorks(programs, { ...options, dir });
  // What does not work is tried again the next time: somebody may have repaired it.
  if (result.runtime) await writeFile(probeResult, JSON.stringify({ key, result } satisfies RememberedResult));
  return result;
}

async function firstThatWorks(programs: FoundProgram[], options: ProbeOptions): Promise<ProbeResult> {
  const tried: ProbeResult['tried'] = [];
  for (const { name, path } of programs) {
    const why = path ? await failureOf({ name, path }, options) : 'it is not installed';
    if (path && why === undefined) return { runtime: { name, path }, tried };
    tried.push({ name, why: why ?? '' });
  }
  return { tried };
}

function refusal({ userId = process.getuid?.() ?? -1, cgroups, cgroupsMissing }: ProbeOptions): string | undefined {
  if (process.platform !== 'linux') return `containers need Linux, this is ${process.platform}`;
  if (userId !== 0) return 'containers with limits and networks of their own need root';
  return cgroups ? undefined : (cgroupsMissing ?? 'there are no cgroups');
}

function findProgram(name: string, path: string): string | undefined {
  return [...path.split(delimiter), ...SYSTEM_FOLDERS].map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What the answer depends on: the programs, the kernel, and how cgroups are mounted. */
async function probeKey(programs: FoundProgram[], cgroups: Cgroups): Promise<string> {
  const parts: string[] = [release(), cgroups.version];
  for (const { name, path } of programs) {
    const info = path ? await stat(path) : undefined;
    parts.push(info ? `${path} ${info.mtimeMs} ${info.size}` : name);
  }
  return parts.join('; ');
}

async function readResult(file: string): Promise<RememberedResult | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as RememberedResult;
  } catch {
    return undefined;
  }
}

/** Undefined when a container ran to its end, and nothing is left of it. */
async function failureOf(runtime: OciRuntime, options: ProbeOptions): Promise<string | undefined> {
  const dir = join(options.dir, `probe-${runtime.name}`);
  const spec = probeContainer(newUid());
  const places = containerPlaces(dir);
  const run = { runtime, places, spec, cgroups: options.cgroups!, timeoutMs: options.timeoutMs ?? PROBE_TIMEOUT_MS };
  try {
    const failure = await runOnce(run).catch(messageOf);
    await clear(run);
    await unmountBelow(dir);
    await rm(dir, { recursive: true, force: true });
    return failure;
  } catch (error) {
    return messageOf(error);
  }
}

interface ProbeRun {
  runtime: OciRuntime;
  places: ContainerPlaces;
  spec: ContainerSpec;
  cgroups: Cgroups;
  timeoutMs: number;
}

async function runOnce({ runtime, places, spec, cgroups, timeoutMs }: ProbeRun): Promise<string | undefined> {
  const { folder } = places.container(spec.id);
  await makeSandbox(places.pod(spec.pod.uid), { pod: spec.pod, limits: spec.limits }, cgroups);
  const facts = await machineFacts(cgroups, places.cgroup);
  const systemRoot = (): Promise<SystemRoot> => makeSystemRoot(places.systemRoot, { programs: [], hidden: [] });
  await makeBundle({ places, facts, seccompFolder: folder, systemRoot }, spec);
  const argv = [...runtimeArguments({ runtime, stateFolder: places.state }), 'run', '--bundle', folder, spec.id];
  const { exitCode, output } = await runtimeCommand(argv, timeoutMs);
  return exitCode === 0 ? undefined : output.trim() || `exit code ${exitCode}`;
}

async function clear({ runtime, places, spec, cgroups, timeoutMs }: ProbeRun): Promise<void> {
  const { folder, cgroup } = places.container(spec.id);
  await cgroups.kill(cgroup);
  await runtimeCommand(runDelete({ runtime, stateFolder: places.state }, spec.id), timeoutMs).catch(() => undefined);
  await removeRoot(folder);
  await unmakeSandbox(places.pod(spec.pod.uid), cgroups);
  await cgroups.remove(places.cgroup);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function probeContainer(uid: string): ContainerSpec {
  const name = 'tenantry.dev/tools';
  return {
    id: `${uid}.probe.0`,
    pod: { namespace: 'tenantry', name: 'probe', uid },
    name: 'probe',
    attempt: 0,
    image: { name, id: name, root: { builtIn: 'tools' }, config: { entrypoint: [], cmd: ['true'], env: [], workingDir: '', user: '' } },
    env: {},
    hostname: 'probe',
    user: { groups: [], mustNotBeRoot: false },
    mounts: [],
    limits: { cpuShares: 512, cpuMillis: 1000, memoryBytes: 256 << 20, pids: 1024 },
    security: {
      privileged: false,
      readOnlyRoot: false,
      allowPrivilegeEscalation: false,
      addCapabilities: [],
      dropCapabilities: [],
      seccomp: { type: 'RuntimeDefault' },
      hostPid: false,
      hostIpc: false,
    },
    terminal: false,
    stdin: false,
    stdinOnce: false,
    logPath: '/dev/null',
  };
}
