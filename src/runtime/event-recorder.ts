import type { Client } from '../client/client.ts';
import { CoreEvent, Event } from '../client/kinds.ts';
import type { Kind } from '../kube/kind.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { formatMicroTime, formatTime } from '../kube/time.ts';
import { randomSuffix } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';

export interface EventRecorderOptions {
  client: Client;
  log: Log;
  /** Who reports: `tenantry.dev/tenant-controller`. */
  controller: string;
  /** Which process of it. */
  instance: string;
  /** Writes Events of the core group with this as their `source.component`, for tools that read no others. */
  coreSource?: string;
}

export interface EventDetails {
  type: 'Normal' | 'Warning';
  /** PascalCase, for machines. */
  reason: string;
  /** For people, at most 1 kB. */
  message: string;
  /** What was done or failed; the reason by default. */
  action?: string;
}

interface Series {
  name: string;
  namespace: string;
  count: number;
  /** When the server last heard of it, and of which count. */
  toldAt: number;
  toldCount: number;
  lastSeen: number;
}

/** The same event within this time is counted, not created again. */
const SERIES_MS = 6 * 60_000;
/** Repeats are told to the server at most this often. */
const TELL_EVERY_MS = 30_000;
/** Distinct events about one object: so many at once, then one per refill. */
const BURST = 25;
const REFILL_MS = 300_000;
const MAX_REMEMBERED = 1024;
const MAX_NOTE = 1024;

/**
 * Events about objects. Repeats become one event with a count, and an object that gets too many loses the rest, so that a hot loop floods
 * nobody. Recording never fails and never waits: an event that cannot be written is dropped.
 */
export class EventRecorder {
  #options: EventRecorderOptions;
  #series = new Map<string, Series>();
  #budgets = new Map<string, { tokens: number; at: number }>();
  #writing: Promise<void> = Promise.resolve();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  record(regarding: KubeObject, details: EventDetails): void {
    const now = this.#options.client.clock.now();
    const key = JSON.stringify([
      regarding.metadata.uid ?? regarding.metadata.name,
      details.type,
      details.reason,
      details.action,
      details.message,
    ]);
    const series = this.#series.get(key);
    if (series && now - series.lastSeen < SERIES_MS) {
      series.count++;
      series.lastSeen = now;
      if (now - series.toldAt >= TELL_EVERY_MS || series.toldCount === 1) this.#enqueue(() => this.#tellSeries(series, now));
      return;
    }
    if (!this.#spend(regarding.metadata.uid ?? '', now)) return;
    // Events about cluster-scoped objects live in `default`, as everywhere in Kubernetes.
    const namespace = regarding.metadata.namespace || 'default';
    const name = `${regarding.metadata.name}.${now.toString(16)}${randomSuffix(5)}`;
    remember(this.#series, key, { name, namespace, count: 1, toldAt: now, toldCount: 1, lastSeen: now });
    this.#enqueue(() => this.#create(namespace, name, regarding, details, now));
  }

  /** Waits until everything recorded so far was written or dropped. */
  flush(): Promise<void> {
    return this.#writing;
  }

  /** One at a time: a count must not overtake the event that it counts. */
  #enqueue(write: () => Promise<void>): void {
    this.#writing = this.#writing.then(write).catch((error: unknown) => {
      this.#options.log.debug('cannot write an event', { error });
    });
  }

  async #create(namespace: string, name: string, regarding: KubeObject, details: EventDetails, now: number): Promise<void> {
    const { client, controller, instance, coreSource } = this.#options;
    const { reason, type, action = reason } = details;
    const note = details.message.length > MAX_NOTE ? `${details.message.slice(0, MAX_NOTE - 3)}...` : details.message;
    const metadata = { name, namespace };
    const reference = referenceTo(regarding);
    if (coreSource !== undefined) {
      const firstTimestamp = formatTime(new Date(now));
      const source = { component: coreSource };
      const times = { firstTimestamp, lastTimestamp: firstTimestamp, count: 1 };
      await client
        .resource(CoreEvent, namespace)
        .create({ metadata, source, ...times, reason, type, message: note, involvedObject: reference });
      return;
    }
    await client.resource(Event, namespace).create({
      metadata,
      eventTime: formatMicroTime(new Date(now)),
      reportingController: controller,
      reportingInstance: instance,
      action,
      reason,
      type,
      note,
      regarding: reference,
    });
  }

  async #tellSeries(series: Series, now: number): Promise<void> {
    series.toldAt = now;
    series.toldCount = series.count;
    const { client, coreSource } = this.#options;
    const { count } = series;
    const patch =
      coreSource === undefined
        ? { series: { count, lastObservedTime: formatMicroTime(new Date(now)) } }
        : { count, lastTimestamp: formatTime(new Date(now)) };
    const kind: Kind = coreSource === undefined ? Event : CoreEvent;
    try {
      await client.resource(kind, series.namespace).patch(series.name, { type: 'merge', patch });
    } catch (error) {
      // It expired meanwhile: the next repeat starts a new one.
      if (!isStatusError(error, 'NotFound')) throw error;
      series.lastSeen = 0;
    }
  }

  #spend(uid: string, now: number): boolean {
    const budget = this.#budgets.get(uid) ?? { tokens: BURST, at: now };
    const refilled = Math.floor((now - budget.at) / REFILL_MS);
    if (refilled > 0) {
      budget.tokens = Math.min(BURST, budget.tokens + refilled);
      budget.at += refilled * REFILL_MS;
    }
    remember(this.#budgets, uid, budget);
    if (budget.tokens === 0) return false;
    budget.tokens--;
    return true;
  }
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject) {
  const { name, namespace, uid, resourceVersion } = metadata;
  return { apiVersion, kind, name, namespace, uid, resourceVersion };
}

/** Keeps the newest entries only. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > MAX_REMEMBERED) map.delete(map.keys().next().value!);
}
