import type { Clock, Timer } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { Images } from '../images/images.ts';
import type { MachineState } from '../registration/machine-facts.ts';
import { evictionOrder, NO_PRESSURE, pressureOf, type Evictable, type Pressure } from '../registration/pressure.ts';
import type { PodVolumes } from '../volumes/pod-volumes.ts';
import { isCritical } from './model/admission.ts';
import type { PodWorker } from './pod-worker.ts';

export interface HousekeeperOptions {
  clock: Clock;
  log: Log;
  workers(): Iterable<PodWorker>;
  images: Pick<Images, 'collect'>;
  volumes: Pick<PodVolumes, 'overLimit'>;
  state(): Promise<MachineState>;
  pressureChanged(): void;
}

/** Nothing reports that a disk fills up or memory runs out: it has to be looked at. */
const INTERVAL_MS = 10_000;
const IMAGE_BYTES = 1024 ** 3;

/** Watches over what all Pods share, and ends Pods that use more than they may or that the machine cannot carry. */
export class Housekeeper {
  #options: HousekeeperOptions;
  #timer: Timer | undefined;
  #pressure: Pressure = NO_PRESSURE;
  #stopped = false;

  constructor(options: HousekeeperOptions) {
    this.#options = options;
  }

  get pressure(): Pressure {
    return this.#pressure;
  }

  async start(): Promise<void> {
    await this.#look();
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = this.#options.clock.setTimer(INTERVAL_MS, () => {
      this.#look()
        .catch((error: unknown) => this.#options.log.warn('cannot look after the node', { error }))
        .finally(() => this.#schedule());
    });
  }

  async #look(): Promise<void> {
    const before = this.#pressure;
    this.#pressure = pressureOf(await this.#options.state(), before);
    const { disk, memory, processes } = this.#pressure;
    if (disk !== before.disk || memory !== before.memory || processes !== before.processes) this.#options.pressureChanged();
    if (disk) await this.#freeDisk();
    if (memory) this.#evictOne('memory');
    await this.#limitVolumes();
  }

  async #freeDisk(): Promise<void> {
    const inUse = new Set<string>();
    for (const { containers } of this.#options.workers()) {
      for (const { image } of containers.runs.all()) if (image) inUse.add(image.id.slice(image.id.lastIndexOf('@') + 1));
    }
    const freed = await this.#options.images.collect(inUse, IMAGE_BYTES).catch(() => 0);
    if (freed < IMAGE_BYTES) this.#evictOne('ephemeral-storage');
  }

  /** One at a time: its end may be enough. */
  #evictOne(resource: string): void {
    const running = [...this.#options.workers()].filter(({ containers }) => containers.runs.running().length > 0);
    const [first] = evictionOrder(running.map(evictable));
    const worker = running.find(({ uid }) => uid === first?.uid);
    if (!worker) return;
    const message = `The node was low on resource: ${resource}. `;
    worker.evict('Evicted', message, { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message });
  }

  async #limitVolumes(): Promise<void> {
    for (const worker of this.#options.workers()) {
      const limited = worker.pod.spec!.volumes?.some(({ emptyDir }) => emptyDir?.sizeLimit !== undefined);
      if (!limited || worker.cleared) continue;
      const message = await this.#options.volumes.overLimit(worker.pod);
      if (message !== undefined) worker.evict('Evicted', message);
    }
  }
}

function evictable({ uid, pod }: PodWorker): Evictable {
  return {
    uid,
    priority: pod.spec!.priority ?? 0,
    qosClass: pod.status?.qosClass ?? 'BestEffort',
    critical: isCritical(pod),
    startedAt: Date.parse(pod.status?.startTime ?? '') || 0,
  };
}
