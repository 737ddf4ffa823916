import { Worker } from 'node:worker_threads';
import { builtProgram } from '../../../lib/built-program.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { EventBroker } from './event-broker.ts';
import type { BrokerSettings } from './model/broker-settings.ts';

/** What the thread is asked; the rest of the broker is known here. */
export const BROKER_METHODS = ['servers', 'compare', 'apply', 'topics', 'removeTopics', 'removeGroups', 'lags'] as const;
export type BrokerMethod = (typeof BROKER_METHODS)[number];

export interface BrokerCall {
  id: number;
  method: BrokerMethod;
  args: unknown[];
}

export type BrokerAnswer = { id: number; value: unknown } | { id: number; problem: string };

/** The client of Kafka is large and takes its time to load, so it works away from the event loop, and only where there is a Kafka. */
export async function openBroker(settings: BrokerSettings, clock: Clock): Promise<EventBroker> {
  const place = builtProgram('kafka-worker.js');
  if (place) return brokerInThread(place, settings);
  // From sources there is no program that a thread could load; tests run like that.
  const { KafkaBroker } = await import('./kafka-broker.ts');
  return new KafkaBroker(settings, clock);
}

export function brokerInThread(place: string | URL, settings: BrokerSettings): EventBroker {
  const thread = new BrokerThread(place, settings);
  const calls = BROKER_METHODS.map((method) => [method, (...args: unknown[]) => thread.ask(method, args)]);
  return { settings, close: () => thread.close(), ...(Object.fromEntries(calls) as Pick<EventBroker, BrokerMethod>) };
}

class BrokerThread {
  readonly #place: string | URL;
  readonly #settings: BrokerSettings;
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #worker: Worker | undefined;
  #last = 0;

  constructor(place: string | URL, settings: BrokerSettings) {
    this.#place = place;
    this.#settings = settings;
  }

  ask(method: BrokerMethod, args: unknown[]): Promise<unknown> {
    this.#worker ??= this.#start();
    const id = ++this.#last;
    const call: BrokerCall = { id, method, args };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.#worker.postMessage(call);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const limits = { maxOldGenerationSizeMb: 256 };
    const worker = new Worker(this.#place, { resourceLimits: limits, execArgv: [], env: {}, workerData: this.#settings });
    worker.on('message', (answer: BrokerAnswer) => this.#answered(answer));
    worker.on('error', (error) => this.#ended(worker, error.message));
    worker.on('exit', () => this.#ended(worker, 'it was closed'));
    // Listening takes a reference, so this comes last: an idle thread must not keep a stopped engine alive.
    worker.unref();
    return worker;
  }

  #answered(answer: BrokerAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('problem' in answer) waiting?.reject(new Error(answer.problem));
    else waiting?.resolve(answer.value);
  }

  /** Whoever still waits is told why. The next question starts another. */
  #ended(worker: Worker, why: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(new Error(`Cannot ask Kafka: the thread that talks to it ended: ${why}`));
    this.#waiting.clear();
  }
}
