import { availableParallelism, cpus } from 'node:os';
import type { Clock } from '../../../lib/clock.ts';
import type { ContainerStats, Driver } from '../drivers/driver.ts';
import type { UsageSample } from '../server/pod-access.ts';

/** A rate needs two readings this far apart at least. */
const SHORTEST_WINDOW_MS = 1000;
/** A reading older than this says nothing about now. */
const LONGEST_WINDOW_MS = 60_000;

interface Reading {
  at: number;
  cpuNanoseconds: number;
  memoryBytes: number;
}

/** CPU rates of containers and of the machine, measured when asked for, between this question and the one before. */
export class UsageSampler {
  #clock: Clock;
  #driver: Pick<Driver, 'stats'>;
  #memoryInUse: () => Promise<number>;
  #before = new Map<string, Reading>();
  #last = new Map<string, UsageSample>();

  constructor(options: { clock: Clock; driver: Pick<Driver, 'stats'>; memoryInUse: () => Promise<number> }) {
    this.#clock = options.clock;
    this.#driver = options.driver;
    this.#memoryInUse = options.memoryInUse;
  }

  async container(runId: string, startedAt: Date): Promise<UsageSample | undefined> {
    const stats = await this.#driver.stats(runId).catch(() => undefined);
    if (!stats) return this.#last.get(runId);
    return this.#rate(runId, reading(stats), { at: startedAt.getTime(), cpuNanoseconds: 0, memoryBytes: 0 });
  }

  async node(): Promise<UsageSample> {
    let busyMs = 0;
    for (const { times } of cpus()) busyMs += times.user + times.nice + times.sys + times.irq;
    const now = { at: this.#clock.now(), cpuNanoseconds: busyMs * 1e6, memoryBytes: await this.#memoryInUse() };
    const sample = this.#rate('', now, undefined);
    return { ...sample, cpuNanocores: Math.min(sample.cpuNanocores, availableParallelism() * 1e9) };
  }

  /** Forgets containers that are gone. */
  keepOnly(runIds: ReadonlySet<string>): void {
    for (const id of this.#before.keys()) {
      if (id === '' || runIds.has(id)) continue;
      this.#before.delete(id);
      this.#last.delete(id);
    }
  }

  #rate(id: string, now: Reading, since: Reading | undefined): UsageSample {
    const known = this.#before.get(id);
    const before = known && now.at - known.at <= LONGEST_WINDOW_MS ? known : (since ?? known);
    const last = this.#last.get(id);
    if (before && last && now.at - before.at < SHORTEST_WINDOW_MS)
      return { ...last, memoryBytes: now.memoryBytes, cpuNanoseconds: now.cpuNanoseconds };
    const windowMs = before ? Math.max(1, now.at - before.at) : 0;
    const used = before ? Math.max(0, now.cpuNanoseconds - before.cpuNanoseconds) : 0;
    const sample: UsageSample = {
      at: new Date(now.at),
      windowSeconds: windowMs / 1000,
      cpuNanocores: windowMs === 0 ? 0 : Math.round((used / windowMs) * 1000),
      cpuNanoseconds: now.cpuNanoseconds,
      memoryBytes: now.memoryBytes,
    };
    this.#before.set(id, now);
    this.#last.set(id, sample);
    return sample;
  }
}

function reading({ at, cpuNanoseconds, memoryBytes }: ContainerStats): Reading {
  return { at: at.getTime(), cpuNanoseconds, memoryBytes };
}
