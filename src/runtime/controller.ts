import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { longLivedController } from '../lib/abort.ts';
import type { BackoffOptions } from '../lib/backoff.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { MetricsRegistry } from '../lib/metrics.ts';
import type { Change, Informer } from './informer/informer.ts';
import { keyOf } from './informer/object-cache.ts';
import { nextTurn } from './informer/reflector.ts';
import { controllerMetrics, type ControllerMetrics } from './metrics.ts';
import { WorkQueue, type KeyShare } from './work-queue.ts';

export interface ReconcileResult {
  /** Come again after so long even if nothing changes. The caller says in a comment why no watch can wake it. */
  afterMs?: number;
}

export interface ControllerOptions {
  name: string;
  clock: Clock;
  log: Log;
  metrics?: MetricsRegistry;
  /** Keys worked on at once; 1 by default. */
  concurrency?: number;
  /** Of these, how many may be of one group, such as a tenant: one whose work takes long does not keep all others waiting. */
  share?: KeyShare;
  backoff?: BackoffOptions;
  /**
   * Brings the world in line with one object. Called with the key only: everything else is read when it runs, so that many changes make
   * one run. A throw is an unexpected failure and is tried again with back-off; a Conflict is tried again without a word.
   */
  reconcile(key: string, context: ReconcileContext): Promise<ReconcileResult | void>;
}

export interface ReconcileContext {
  signal: AbortSignal;
  log: Log;
  metrics: ControllerMetrics;
}

/** Keys in, reconciliations out: one queue, a few workers. Wake-ups come from informers. */
export class Controller {
  readonly name: string;
  readonly queue: WorkQueue;
  #options: ControllerOptions;
  #metrics: ControllerMetrics;
  #sources: { informer: { whenSynced(signal?: AbortSignal): Promise<void> }; stop: () => void }[] = [];
  #stop = longLivedController();
  #workers: Promise<void>[] = [];

  constructor(options: ControllerOptions) {
    this.name = options.name;
    this.#options = options;
    this.queue = new WorkQueue({ clock: options.clock, backoff: options.backoff, share: options.share });
    this.#metrics = controllerMetrics(options.metrics, options.name, this.queue);
  }

  /** Changes of the informer's objects wake the keys that `toKeys` gives; by default the object's own. */
  watch<T extends KubeObject>(informer: Informer<T>, toKeys: (change: Change<T>) => Iterable<string> = ownKey): this {
    const stop = informer.onChange((change) => {
      for (const key of toKeys(change)) this.queue.add(key);
    });
    this.#sources.push({ informer, stop });
    return this;
  }

  /** Starts the workers once every informer has its first list: before that an absent object may only be unknown. */
  start(): this {
    const { concurrency = 1 } = this.#options;
    const synced = Promise.all(this.#sources.map(({ informer }) => informer.whenSynced(this.#stop.signal)));
    for (let worker = 0; worker < concurrency; worker++) {
      this.#workers.push(
        synced.then(
          () => this.#work(),
          () => {},
        ),
      );
    }
    return this;
  }

  /** Takes no new keys, tells reconciliations under way to end, and waits for them. */
  async stop(): Promise<void> {
    for (const { stop } of this.#sources.splice(0)) stop();
    this.queue.closeNow();
    this.#stop.abort();
    await Promise.all(this.#workers.splice(0));
  }

  async #work(): Promise<void> {
    for (let key = await this.queue.get(); key !== undefined; key = await this.queue.get()) {
      await this.#process(key);
      this.queue.done(key);
      // On the in-memory transport nothing here may ever wait for the outside: others get their turn between two keys.
      if (this.queue.length > 0) await nextTurn();
    }
  }

  async #process(key: string): Promise<void> {
    const { clock, log } = this.#options;
    const started = clock.monotonic();
    const took = (): number => (clock.monotonic() - started) / 1000;
    try {
      const context = { signal: this.#stop.signal, log, metrics: this.#metrics };
      const result = await this.#options.reconcile(key, context);
      this.queue.forget(key);
      if (result?.afterMs !== undefined) this.queue.addAfter(key, result.afterMs);
      this.#metrics.reconciled(result?.afterMs === undefined ? 'done' : 'requeued', took());
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const conflict = isStatusError(error, 'Conflict');
      const waitMs = this.queue.addRateLimited(key);
      this.#metrics.reconciled(conflict ? 'conflict' : 'error', took());
      if (!conflict) log.warn('reconciliation failed, will try again', { controller: this.name, key, waitMs: Math.round(waitMs), error });
    }
  }
}

function ownKey<T extends KubeObject>(change: Change<T>): string[] {
  return [keyOf(change.object)];
}
