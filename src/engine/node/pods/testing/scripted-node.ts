import type { PodStatus } from '../../../../kube/generated/core-v1.ts';
import type { Json } from '../../../../kube/object.ts';
import { notFoundError } from '../../../../kube/status.ts';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { silentLog } from '../../../../lib/log.ts';
import type { DriverContainer } from '../../drivers/driver.ts';
import { ImageError, type Image, type ImageRequest } from '../../images/images.ts';
import { commandResult } from '../../probes/exec-command.ts';
import { Probes } from '../../probes/pod-probes.ts';
import { startContainer } from '../container-starter.ts';
import { ImagePuller } from '../image-puller.ts';
import { runHook } from '../lifecycle-hooks.ts';
import type { NodeAbilities } from '../model/admission.ts';
import { runId } from '../model/container-runs.ts';
import type { PodObject } from '../model/pod-object.ts';
import { PodWorker } from '../pod-worker.ts';
import type { WorkerPorts } from '../worker-ports.ts';
import { setUpSandbox, tearDownSandbox } from '../sandbox.ts';
import { START, UID } from './a-pod.ts';
import { MemoryPodFiles } from './memory-pod-files.ts';
import { ScriptedDriver } from './scripted-driver.ts';

/** A node with one Pod: worker and decisions are real; driver, images, network, files and API do what the test says. */
export class ScriptedNode {
  readonly clock = new FakeClock(START.getTime());
  readonly driver = new ScriptedDriver(this.clock);
  readonly files = new MemoryPodFiles();
  readonly events: string[] = [];
  /** The statuses that were written, as patches. */
  readonly writes: Json[] = [];
  readonly deleted: string[] = [];
  readonly attached = new Set<string>();
  gone = false;
  /** The Pod as the API has it. */
  api: PodObject;
  abilities: NodeAbilities = { driver: 'process', os: 'linux', diskPressure: false, memoryPressure: false };
  ensureImage: (request: ImageRequest) => Promise<Image> = (request) => Promise.resolve(anImage(request.reference));
  setUpVolumes: (pod: PodObject) => Promise<void> = () => Promise.resolve();
  patchFailure: (() => Error) | undefined;
  worker: PodWorker;
  #revision = 1;

  constructor(pod: PodObject) {
    this.api = pod;
    this.worker = new PodWorker(pod, this.ports());
  }

  /** Begins, with whatever the driver has. */
  async begin(options: { sandboxLives?: boolean; containers?: DriverContainer[] } = {}): Promise<void> {
    const containers = options.containers ?? (await this.driver.list());
    const hasTraces = containers.length > 0 || options.sandboxLives === true;
    await this.worker.begin({ containers, sandboxLives: options.sandboxLives ?? false, hasTraces });
    await this.settle();
  }

  /** An agent takes over from another that was killed. */
  async restart(options: { sandboxLives?: boolean } = {}): Promise<void> {
    this.worker.release();
    this.replaceWorker();
    await this.begin({ sandboxLives: true, ...options });
  }

  /** The next agent's worker, which has not begun yet. */
  replaceWorker(): void {
    this.worker = new PodWorker(this.api, this.ports());
  }

  async delete(graceSeconds = 30): Promise<void> {
    await this.change((pod) => {
      pod.metadata.deletionTimestamp = new Date(this.clock.now() + graceSeconds * 1000).toISOString();
      pod.metadata.deletionGracePeriodSeconds = graceSeconds;
    });
  }

  async change(edit: (pod: PodObject) => void): Promise<void> {
    this.changeUnseen(edit);
    this.worker.update(this.api);
    await this.settle();
  }

  /** In the API, but the watch has not told of it yet. */
  changeUnseen(edit: (pod: PodObject) => void): void {
    const next = structuredClone(this.api);
    edit(next);
    next.metadata.resourceVersion = String(++this.#revision);
    this.api = next;
  }

  async endContainer(name: string, exitCode: number, attempt = 0): Promise<void> {
    this.driver.end(runId(UID, name, attempt), exitCode);
    await this.settle();
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.settle();
  }

  /** Until nothing moves any more that does not wait for a timer. */
  async settle(): Promise<void> {
    for (let round = 0; round < 5; round++) await this.clock.advance(0);
  }

  get status(): PodStatus {
    return this.api.status!;
  }

  state(name: string): Json {
    const all = [...(this.status.initContainerStatuses ?? []), ...(this.status.containerStatuses ?? [])];
    return all.find((status) => status.name === name);
  }

  condition(type: string): string | undefined {
    return this.status.conditions?.find((condition) => condition.type === type)?.status;
  }

  close(): void {
    this.worker.release();
  }

  ports(): WorkerPorts {
    const { clock, driver, files } = this;
    const events = {
      record: (_pod: PodObject, type: string, reason: string, message: string) => void this.events.push(`${type} ${reason} ${message}`),
    };
    const volumes = { setUp: (pod: PodObject) => this.setUpVolumes(pod), tearDown: async () => {}, mountsOf: async () => [] };
    const network = {
      attach: async (pod: PodObject) => {
        this.attached.add(pod.metadata.uid!);
        return { addresses: ['10.1.0.7'] };
      },
      detach: async (uid: string) => void this.attached.delete(uid),
    };
    const networkFiles = () => ({ hosts: '', resolvConf: '', hostname: 'web' });
    const sandbox = { driver, network, volumes, files, events, hostIps: ['192.0.2.1'], networkFiles };
    const images = { ensure: (request: ImageRequest) => this.ensureImage(request), list: async () => [], collect: async () => 0 };
    const puller = new ImagePuller({ images, events, clock, credentials: async () => [] });
    const hooks = {
      clock,
      exec: async (id: string, command: string[], signal: AbortSignal) =>
        commandResult(await driver.exec(id, { command, terminal: false, stdin: false }), signal),
      httpGet: async () => {},
    };
    return {
      clock,
      log: silentLog,
      driver,
      driverName: driver.name,
      missingIsolation: driver.missingIsolation,
      events,
      files,
      probes: new Probes({ clock, random: () => 0.5, events, driver }),
      hostIps: ['192.0.2.1'],
      abilities: () => this.abilities,
      setUpSandbox: (pod) => setUpSandbox(sandbox, pod),
      refreshVolumes: (pod) => volumes.setUp(pod),
      tearDownSandbox: (uid) => tearDownSandbox(sandbox, uid),
      start: (...args) =>
        startContainer({ clock, driver, puller, volumes, files, events, environment: async () => ({ GREETING: 'hello' }) }, ...args),
      postStart: (pod, container, run, signal) =>
        runHook(hooks, { pod, container, runId: run.id, podIp: '' }, container.lifecycle!.postStart!, signal),
      preStop: (pod, container, run, signal) =>
        runHook(hooks, { pod, container, runId: run.id, podIp: '' }, container.lifecycle!.preStop!, signal),
      stopSignal: async () => 'SIGTERM',
      lastLines: async () => 'the last line\n',
      patchStatus: async (_pod, patch) => this.#patch(patch),
      deletePod: async (pod) => void this.deleted.push(pod.metadata.uid!),
      gone: () => (this.gone = true),
    };
  }

  async #patch(patch: Json): Promise<PodObject> {
    if (this.patchFailure) throw this.patchFailure();
    if (this.deleted.length > 0) throw notFoundError({ group: '', resource: 'pods' }, 'web');
    this.writes.push(patch);
    const status: Json = structuredClone(this.api.status ?? {});
    for (const [field, value] of Object.entries(patch as Record<string, Json>)) {
      if (value === null) delete status[field];
      else if (field === 'conditions') {
        for (const change of value) status.conditions = mergedCondition(status.conditions ?? [], change);
      } else status[field] = Array.isArray(value) ? value.filter((item) => item.$patch === undefined) : value;
    }
    this.api = { ...structuredClone(this.api), status };
    this.api.metadata.resourceVersion = String(++this.#revision);
    return this.api;
  }
}

function mergedCondition(conditions: Json[], change: Json): Json[] {
  const merged = { ...conditions.find(({ type }) => type === change.type), ...change };
  for (const [field, value] of Object.entries(merged)) if (value === null) delete merged[field];
  return [...conditions.filter(({ type }) => type !== change.type), merged];
}

export function anImage(reference: string): Image {
  return {
    name: `docker.io/library/${reference}`,
    id: `docker.io/library/app@sha256:1`,
    config: { entrypoint: [], cmd: [], env: [], workingDir: '', user: '' },
    root: { builtIn: 'tools' },
  };
}

export function pullFails(message: string): (request: ImageRequest) => Promise<Image> {
  return ({ policy }) =>
    Promise.reject(policy === 'Never' ? new ImageError('ErrImageNeverPull', 'it is not here') : new ImageError('ErrImagePull', message));
}
