import type { Informer } from '../../../runtime/informer/informer.ts';
import type { Clock } from '../../../lib/clock.ts';
import { sleep } from '../../../lib/abort.ts';
import type { Log } from '../../../lib/log.ts';
import type { Driver, DriverContainer } from '../drivers/driver.ts';
import type { PodNetwork } from '../network/pod-network.ts';
import type { PodVolumes } from '../volumes/pod-volumes.ts';
import { MINIMUM_GRACE_SECONDS } from './model/grace-period.ts';
import type { PodObject } from './model/pod-object.ts';
import type { PodFiles } from './pod-files.ts';
import { PodWorker } from './pod-worker.ts';
import type { WorkerPorts } from './worker-ports.ts';

export interface PodWorkersOptions {
  clock: Clock;
  log: Log;
  /** The Pods of this node, and only those. */
  pods: Informer<PodObject>;
  driver: Pick<Driver, 'list' | 'signal' | 'ended' | 'remove' | 'cleanUp'>;
  network: Pick<PodNetwork, 'cleanUp'>;
  volumes: Pick<PodVolumes, 'cleanUp'>;
  files: PodFiles;
  ports: Omit<WorkerPorts, 'gone'>;
  signal: AbortSignal;
}

/** A worker for every Pod of this node, from its first sight until nothing is left of it. */
export class PodWorkers {
  #options: PodWorkersOptions;
  #workers = new Map<string, PodWorker>();
  #stopWatching: (() => void) | undefined;

  constructor(options: PodWorkersOptions) {
    this.#options = options;
  }

  get(uid: string): PodWorker | undefined {
    return this.#workers.get(uid);
  }

  /** Of several Pods that had this name the newest. */
  find(namespace: string, name: string, uid?: string): PodWorker | undefined {
    if (uid !== undefined) return this.#workers.get(uid);
    const current = this.#options.pods.find(namespace, name);
    return current && this.#workers.get(current.metadata.uid!);
  }

  all(): IterableIterator<PodWorker> {
    return this.#workers.values();
  }

  /** Takes over what runs, ends what nobody wants any more, then follows the API. */
  async start(): Promise<void> {
    const { pods, driver, files, signal, log } = this.#options;
    await pods.whenSynced(signal);
    const found = new Map<string, DriverContainer[]>();
    for (const container of await driver.list()) {
      const of = found.get(container.pod.uid);
      if (of) of.push(container);
      else found.set(container.pod.uid, [container]);
    }
    const traces = new Set([...(await files.known()), ...found.keys()]);
    const known = new Set<string>();
    for (const pod of pods.list()) known.add(pod.metadata.uid!);
    const orphans = [...found].filter(([uid]) => !known.has(uid)).flatMap(([, containers]) => containers);
    // Before the first new container: it must not find the address or the name of a Pod that is gone.
    if (orphans.length > 0) log.info('ending containers of Pods that are gone', { containers: orphans.map(({ id }) => id) });
    await Promise.all(orphans.map((container) => this.#endOrphan(container)));
    await this.#cleanUp(known);
    this.#stopWatching = pods.onChange((change) => {
      const { object } = change;
      if (change.type === 'deleted') this.#workers.get(object.metadata.uid!)?.remove(object);
      else if (change.type === 'modified') this.#workers.get(object.metadata.uid!)?.update(object);
      else this.#begin(object, found.get(object.metadata.uid!) ?? [], traces.has(object.metadata.uid!));
    });
    // Those that went while we were cleaning up: nobody will tell of them any more.
    const late = [...found].filter(([uid]) => known.has(uid) && !this.#workers.has(uid)).flatMap(([, containers]) => containers);
    if (late.length === 0) return;
    await Promise.all(late.map((container) => this.#endOrphan(container)));
    await this.#cleanUp(new Set(this.#workers.keys()));
  }

  /** Ends all Pods and undoes everything; they stay in the API. */
  async shutDown(): Promise<void> {
    this.#stopWatching?.();
    await Promise.all([...this.#workers.values()].map((worker) => worker.shutDown()));
  }

  /** Lets go: what runs goes on running, for the next agent. */
  release(): void {
    this.#stopWatching?.();
    for (const worker of this.#workers.values()) worker.release();
  }

  #begin(pod: PodObject, containers: DriverContainer[], hasTraces: boolean): void {
    const { ports, files, log } = this.#options;
    const uid = pod.metadata.uid!;
    const worker = new PodWorker(pod, { ...ports, gone: () => this.#workers.delete(uid) });
    this.#workers.set(uid, worker);
    const sandboxLives = hasTraces ? files.hasSandbox(uid) : Promise.resolve(false);
    sandboxLives
      .then((lives) => worker.begin({ containers, sandboxLives: lives, hasTraces }))
      .catch((error: unknown) => log.error('cannot take over a Pod', { pod: pod.metadata.name, error }));
  }

  async #endOrphan({ id, end }: DriverContainer): Promise<void> {
    const { driver, clock, log } = this.#options;
    try {
      if (!end) {
        const ended = driver.ended(id);
        await driver.signal(id, 'SIGTERM').catch(() => {});
        const inTime = await Promise.race([ended.then(() => true), sleep(clock, MINIMUM_GRACE_SECONDS * 1000).then(() => false)]);
        if (!inTime) await driver.signal(id, 'SIGKILL').catch(() => {});
        await ended;
      }
      await driver.remove(id);
    } catch (error) {
      log.warn('cannot end a container of a Pod that is gone', { container: id, error });
    }
  }

  async #cleanUp(known: ReadonlySet<string>): Promise<void> {
    const { driver, network, volumes, files, log } = this.#options;
    const steps: [string, () => Promise<unknown>][] = [
      ['network', () => network.cleanUp(known)],
      ['volumes', () => volumes.cleanUp(known)],
      ['containers', () => driver.cleanUp(known)],
      ['files', async () => Promise.all((await files.known()).filter((uid) => !known.has(uid)).map((uid) => files.remove(uid)))],
      ['logs', () => files.removeForeignLogs(known)],
    ];
    for (const [what, step] of steps) {
      await step().catch((error: unknown) => log.warn('cannot clean up after Pods that are gone', { what, error }));
    }
  }
}
