import { CrossTenantAttemptKind, type CrossTenantAttempt } from '../../../api/plugins.tenantry.dev/v1alpha1/cross-tenant-attempt.ts';
import type { Client } from '../../../client/client.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { Counter, Family, MetricsRegistry } from '../../../lib/metrics.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import { attemptName, fitting, joined, specOf, withoutTarget, type Attempt } from './model/attempt.ts';

/** The first of its kind is written at once, with whatever comes in the same moment. */
const GATHER_MS = 200;
/** Then its count, now and then: a flood costs a write in so long, not one each. */
const COUNT_EVERY_MS = 10_000;
/** Of one plugin; what comes beyond is counted under one target. */
export const MAX_OBJECTS = 100;
/** What is waiting to be written, of all plugins. */
const MAX_WAITING = 2_000;
const KEPT_MS = 30 * 24 * 3600_000;

interface Waiting {
  attempt: Attempt;
  first: number;
  dueAt: number;
}

export interface RecorderOptions {
  client: Client;
  clock: Clock;
  log: Log;
  metrics: MetricsRegistry;
  /** Those that are there; indexed by `plugin`. */
  attempts: Informer<CrossTenantAttempt>;
}

/** Makes objects of what was refused: one for each thing that a plugin was after, with a count. */
export class AttemptRecorder {
  readonly #options: RecorderOptions;
  readonly #counter: Family<Counter>;
  /** By `<tenant>/<plugin>`: the labels that were counted under. */
  readonly #counted = new Map<string, Map<string, string[]>>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #writtenAt = new Map<string, number>();
  #timer: Timer | undefined;
  #writing: Promise<void> | undefined;
  #stopped = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#counter = options.metrics.counter(
      'tenantry_cross_tenant_attempts_total',
      'What plugins tried outside of what is their own, and were refused',
      ['tenant', 'plugin', 'kind', 'rule'],
    );
    options.attempts.addIndex('plugin', ({ metadata, spec }) => [`${metadata.namespace}/${spec.plugin}`]);
  }

  report(reported: Attempt): void {
    const { tenant, plugin, kind, rule, count = 1 } = reported;
    this.#count([tenant, plugin, kind, rule], count);
    const attempt = this.#bounded(fitting(reported));
    const key = keyFor(attempt);
    const before = this.#waiting.get(key);
    if (before) {
      before.attempt = joined(before.attempt, attempt);
      return;
    }
    if (this.#waiting.size >= MAX_WAITING) return;
    const now = this.#options.clock.monotonic();
    const written = this.#writtenAt.get(key);
    this.#waiting.set(key, { attempt, first: attempt.at, dueAt: written === undefined ? now + GATHER_MS : written + COUNT_EVERY_MS });
    this.#schedule();
  }

  /** A plugin that is gone is no longer counted; what it tried stays on record. */
  forget(tenant: string, plugin: string): void {
    const key = `${tenant}/${plugin}`;
    for (const labels of this.#counted.get(key)?.values() ?? []) this.#counter.remove(...labels);
    this.#counted.delete(key);
  }

  #count(labels: [tenant: string, plugin: string, kind: string, rule: string], by: number): void {
    this.#counter.labels(...labels).inc(by);
    const [tenant, plugin, kind, rule] = labels;
    const counted = this.#counted.get(`${tenant}/${plugin}`) ?? new Map<string, string[]>();
    this.#counted.set(`${tenant}/${plugin}`, counted.set(`${kind}/${rule}`, labels));
  }

  /** Everything that was reported is written. */
  async flush(): Promise<void> {
    await this.#writing;
    await this.#write(Number.POSITIVE_INFINITY);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.flush();
  }

  /** Those of long ago go. */
  async forgetOld(): Promise<void> {
    const { attempts, clock, client } = this.#options;
    const old = [...attempts.list()].filter(({ spec }) => Date.parse(spec.lastSeen) < clock.now() - KEPT_MS);
    for (const { metadata } of old) {
      await client
        .resource(CrossTenantAttemptKind, metadata.namespace)
        .delete(metadata.name!)
        .catch(() => {});
    }
  }

  #bounded(attempt: Attempt): Attempt {
    const { attempts } = this.#options;
    const isKnown = attempts.find(attempt.tenant, attemptName(attempt)) !== undefined || this.#waiting.has(keyFor(attempt));
    if (isKnown) return attempt;
    const prefix = `${attempt.tenant}/${attempt.plugin}`;
    let ofPlugin = attempts.byIndex('plugin', prefix).length;
    if (ofPlugin < MAX_OBJECTS) {
      for (const waiting of this.#waiting.values()) if (`${waiting.attempt.tenant}/${waiting.attempt.plugin}` === prefix) ofPlugin++;
    }
    return ofPlugin >= MAX_OBJECTS ? withoutTarget(attempt) : attempt;
  }

  #schedule(): void {
    if (this.#timer || this.#stopped) return;
    this.#timer = this.#options.clock.setTimer(GATHER_MS, () => {
      this.#timer = undefined;
      this.#writing = this.#write(this.#options.clock.monotonic()).finally(() => {
        this.#writing = undefined;
        if (this.#waiting.size > 0) this.#schedule();
      });
    });
  }

  async #write(until: number): Promise<void> {
    // As it is now: what cannot be written is put back.
    const due = Array.from(this.#waiting).filter(([, { dueAt }]) => dueAt <= until);
    for (const [key, waiting] of due) {
      this.#waiting.delete(key);
      try {
        await this.#put(waiting);
        this.#writtenAt.set(key, this.#options.clock.monotonic());
      } catch (error) {
        this.#keepForLater(key, waiting, error);
      }
    }
    for (const [key, at] of this.#writtenAt) if (at < this.#options.clock.monotonic() - COUNT_EVERY_MS) this.#writtenAt.delete(key);
  }

  #keepForLater(key: string, waiting: Waiting, error: unknown): void {
    const { log, clock } = this.#options;
    // With the tenant goes what its plugins tried.
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) return;
    log.warn('cannot record what a plugin tried, will try again', { error });
    const since = this.#waiting.get(key);
    const attempt = since ? joined(waiting.attempt, since.attempt) : waiting.attempt;
    this.#waiting.set(key, { attempt, first: waiting.first, dueAt: clock.monotonic() + COUNT_EVERY_MS });
  }

  async #put({ attempt, first }: Waiting): Promise<void> {
    const resource = this.#options.client.resource(CrossTenantAttemptKind, attempt.tenant);
    const name = attemptName(attempt);
    try {
      const metadata = { name, namespace: attempt.tenant };
      const existing = this.#options.attempts.find(attempt.tenant, name);
      if (!existing) return void (await resource.create({ metadata, spec: specOf(attempt, first) }));
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error;
    }
    const current = await resource.get(name);
    await resource.update({ ...current, spec: specOf(attempt, first, current.spec) });
  }
}

function keyFor(attempt: Attempt): string {
  return keyOf({ metadata: { namespace: attempt.tenant, name: attemptName(attempt) } });
}
