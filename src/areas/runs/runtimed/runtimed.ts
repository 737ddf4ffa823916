import { RunKind, type Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import type { Client } from '../../../client/client.ts';
import { versionOrder } from '../../../kube/resource-version.ts';
import { sleep } from '../../../lib/abort.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import { Informer } from '../../../runtime/informer/informer.ts';
import { fits, requestsOf, type ResourceAmounts } from '../../../api/kruntimes.io/v1alpha1/capacity.ts';
import { phaseOf, UNFINISHED } from '../../../api/kruntimes.io/v1alpha1/run-state.ts';
import type { RuntimeClient } from './runtime-client.ts';
import { RunWorker, type RunWorkerPorts } from './run-worker.ts';

export interface RuntimedOptions {
  client: Client;
  namespace: string;
  runtimeName: string;
  /** What Runs may take of this Pod, all in all. */
  capacity: ResourceAmounts;
  runtime: RuntimeClient;
  worker: RunWorkerPorts;
  clock: Clock;
  log: Log;
}

interface ActiveRun {
  worker: RunWorker;
  requests: ResourceAmounts;
  done: Promise<void>;
}

const LIST_RETRY_MS = 200;

/**
 * Takes the Runs that were assigned to this Pod and works on each on its own. The scheduler counts before it assigns; what it could not
 * know, two of them in a handover for example, is caught here: Runs above the capacity wait.
 */
export class Runtimed {
  readonly #options: RuntimedOptions;
  readonly #runs: Informer<Run>;
  readonly #active = new Map<string, ActiveRun>();
  readonly #waiting = new Map<string, Run>();
  /** Runs that have ended while the watch still shows them, and the version of their end: answers to writes come before their events. */
  readonly #over = new Map<string, string>();
  readonly #used = new Map<string, number>();
  #found: ReadonlySet<string> = new Set();
  #accepts = false;

  constructor(options: RuntimedOptions) {
    this.#options = options;
    const { client, namespace, clock, log } = options;
    this.#runs = new Informer<Run>({
      resource: client.resource(RunKind, namespace),
      fieldSelector: `status.assignedPod=${options.worker.pod.name},${UNFINISHED}`,
      clock,
      log,
    });
  }

  get activeRuns(): number {
    return this.#active.size;
  }

  get synced(): boolean {
    return this.#runs.synced;
  }

  /** Works until the signal fires; Runs that are still here then go on without us, and are found again by the next. */
  async run(signal: AbortSignal): Promise<void> {
    this.#found = new Set(await this.#runningPrograms(signal));
    this.#accepts = true;
    this.#runs.onChange(({ type, object }) => (type === 'deleted' ? this.#removed(object) : this.#changed(object)));
    this.#runs.whenSynced(signal).then(
      () => void this.#endOthers(),
      () => {},
    );
    await this.#runs.run(signal);
    this.#accepts = false;
    for (const { worker } of this.#active.values()) worker.interrupt('stopping');
    await Promise.all([...this.#active.values()].map(({ done }) => done));
  }

  /** No new Runs; resolves when those that are here have ended, or the signal fires. */
  async drain(signal: AbortSignal): Promise<void> {
    this.#accepts = false;
    this.#waiting.clear();
    while (this.#active.size > 0 && !signal.aborted) {
      const stop = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      await Promise.race([...[...this.#active.values()].map(({ done }) => done), stop]);
    }
  }

  /** What the Runtime Server still has from before we were restarted. */
  async #runningPrograms(signal: AbortSignal): Promise<string[]> {
    for (;;) {
      try {
        return await this.#options.runtime.list();
      } catch (error) {
        signal.throwIfAborted();
        this.#options.log.warn('the Runtime Server does not answer yet', { error });
        await sleep(this.#options.clock, LIST_RETRY_MS, signal);
      }
    }
  }

  /** Programs whose Runs were deleted, ended or given to others while we were away: nobody else would end them. */
  async #endOthers(): Promise<void> {
    const others = [...this.#found].filter((uid) => !this.#active.has(uid));
    const { runtime, worker, log } = this.#options;
    const end = async (uid: string) => {
      await runtime.cancel(uid);
      worker.cleanUp(uid);
    };
    const ends = await Promise.allSettled(others.map(end));
    for (const result of ends) if (result.status === 'rejected') log.warn('cannot end a program without a Run', { error: result.reason });
  }

  #changed(run: Run): void {
    const uid = run.metadata.uid!;
    const active = this.#active.get(uid);
    if (active !== undefined) return active.worker.update(run);
    if (isNotNewer(run.metadata.resourceVersion, this.#over.get(uid))) return;
    if (run.status?.assignedPodUID !== undefined && run.status.assignedPodUID !== this.#options.worker.pod.uid) return;
    const phase = phaseOf(run);
    if (phase === 'Scheduled') {
      this.#waiting.set(uid, run);
      this.#take();
    } else if (phase === 'Running') {
      // Ours from before a restart, whether its program lives or not: the worker finds out.
      this.#begin(run, true);
    } else {
      this.#waiting.delete(uid);
    }
  }

  /** It is gone, or over, or not ours any more: the watch does not say which. */
  #removed(run: Run): void {
    this.#waiting.delete(run.metadata.uid!);
    this.#over.delete(run.metadata.uid!);
    this.#active.get(run.metadata.uid!)?.worker.outOfSight();
  }

  #take(): void {
    if (!this.#accepts) return;
    for (const [uid, run] of this.#waiting) {
      const requests = requestsOf(run);
      if (!('amounts' in requests) || !fits(requests.amounts, this.#used, this.#options.capacity)) continue;
      this.#waiting.delete(uid);
      this.#begin(run, false);
    }
  }

  #begin(run: Run, running: boolean): void {
    const { worker: ports, log, runtimeName } = this.#options;
    const { namespace, name } = run.metadata;
    const uid = run.metadata.uid!;
    const asked = requestsOf(run);
    const requests = 'amounts' in asked ? asked.amounts : new Map<string, number>();
    this.#count(requests, 1);
    const worker = new RunWorker(run, ports);
    const done = worker
      .work(running && this.#found.has(uid) ? 'found' : running ? 'lost' : 'new')
      .then(() => {
        const { endVersion } = worker;
        // One without an end is still to be brought to it, by whoever is told of it next.
        if (endVersion !== undefined && this.#runs.find(namespace, name!)?.metadata.uid === uid) this.#over.set(uid, endVersion);
      })
      .catch((error: unknown) => log.error('a Run was given up', { run: `${namespace}/${name}`, error }))
      .finally(() => {
        this.#active.delete(uid);
        this.#count(requests, -1);
        ports.metrics.active(runtimeName, this.#active.size);
        this.#take();
      });
    this.#active.set(uid, { worker, requests, done });
    ports.metrics.active(runtimeName, this.#active.size);
  }

  #count(requests: ResourceAmounts, sign: 1 | -1): void {
    for (const [name, amount] of requests) this.#used.set(name, (this.#used.get(name) ?? 0) + sign * amount);
  }
}

/** What cannot be compared is taken for new. */
function isNotNewer(version: string | undefined, than: string | undefined): boolean {
  return (versionOrder(version, than) ?? 1) <= 0;
}
