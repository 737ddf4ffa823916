import type { Client } from '../../../client/client.ts';
import { CoreEvent } from '../../../client/kinds.ts';
import { isStatusError } from '../../../kube/status.ts';
import { formatTime } from '../../../kube/time.ts';
import { randomSuffix } from '../../../lib/ids.ts';
import type { Log } from '../../../lib/log.ts';
import { fieldPathOf, type PodObject } from './model/pod-object.ts';

/** Tells the world what happens to Pods, in the words of a kubelet. Never fails and never waits. */
export interface PodEvents {
  record(pod: PodObject, type: 'Normal' | 'Warning', reason: string, message: string, container?: string): void;
}

interface Told {
  name: string;
  namespace: string;
  count: number;
  lastSeen: number;
  queued: boolean;
}

/** Starts of Pods come first: what is said about them can wait a moment. */
const DELAY_MS = 150;
/** client-go's limits: so many different events about one object at once, then one more every five minutes. */
const BURST = 25;
const REFILL_MS = 300_000;
/** The same event within this time is counted. */
const SERIES_MS = 600_000;
const MAX_REMEMBERED = 4096;
const MAX_MESSAGE = 1024;

export class PodEventRecorder implements PodEvents {
  #client: Client;
  #log: Log;
  #nodeName: string;
  #told = new Map<string, Told>();
  #budgets = new Map<string, { tokens: number; at: number }>();
  #queue: (() => Promise<unknown>)[] = [];
  #writing: Promise<void> | undefined;

  constructor(options: { client: Client; log: Log; nodeName: string }) {
    this.#client = options.client;
    this.#log = options.log;
    this.#nodeName = options.nodeName;
  }

  record(pod: PodObject, type: 'Normal' | 'Warning', reason: string, message: string, container?: string): void {
    const now = this.#client.clock.now();
    const { uid = '' } = pod.metadata;
    if (!this.#spend(uid, now)) return;
    const key = JSON.stringify([uid, container, type, reason, message]);
    const told = this.#told.get(key);
    if (told && now - told.lastSeen < SERIES_MS) {
      told.count++;
      told.lastSeen = now;
      if (told.queued) return;
      told.queued = true;
      this.#enqueue(() => this.#count(told));
      return;
    }
    const fresh: Told = {
      name: `${pod.metadata.name}.${now.toString(16)}${randomSuffix(5)}`,
      namespace: pod.metadata.namespace!,
      count: 1,
      lastSeen: now,
      queued: true,
    };
    remember(this.#told, key, fresh);
    this.#enqueue(() => this.#create(fresh, pod, { type, reason, message, container }, now));
  }

  /** Waits until everything recorded so far was written or dropped. */
  async flush(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  #enqueue(write: () => Promise<unknown>): void {
    this.#queue.push(write);
    this.#writing ??= this.#drain();
  }

  async #drain(): Promise<void> {
    await new Promise<void>((resolve) => void this.#client.clock.setTimer(DELAY_MS, resolve));
    for (let write = this.#queue.shift(); write; write = this.#queue.shift()) {
      await write().catch((error: unknown) => this.#log.debug('cannot write an event', { error }));
    }
    this.#writing = undefined;
  }

  async #create(
    told: Told,
    pod: PodObject,
    details: { type: string; reason: string; message: string; container?: string },
    now: number,
  ): Promise<void> {
    told.queued = false;
    const time = formatTime(new Date(now));
    const { type, reason, message, container } = details;
    const fieldPath = container === undefined ? undefined : fieldPathOf(pod.spec!, container);
    const { name, namespace, uid, resourceVersion } = pod.metadata;
    await this.#client.resource(CoreEvent, told.namespace).create({
      metadata: { name: told.name, namespace: told.namespace },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', name, namespace, uid, resourceVersion, ...(fieldPath ? { fieldPath } : {}) },
      type,
      reason,
      message: message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 4)} ...` : message,
      source: { component: 'kubelet', host: this.#nodeName },
      reportingComponent: 'kubelet',
      reportingInstance: this.#nodeName,
      firstTimestamp: time,
      lastTimestamp: formatTime(new Date(told.lastSeen)),
      count: told.count,
    });
  }

  async #count(told: Told): Promise<void> {
    told.queued = false;
    const patch = { count: told.count, lastTimestamp: formatTime(new Date(told.lastSeen)) };
    try {
      await this.#client.resource(CoreEvent, told.namespace).patch(told.name, { type: 'merge', patch });
    } catch (error) {
      // It expired meanwhile: the next one starts anew.
      if (!isStatusError(error, 'NotFound')) throw error;
      told.lastSeen = 0;
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

/** Keeps the newest entries only. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > MAX_REMEMBERED) map.delete(map.keys().next().value!);
}
