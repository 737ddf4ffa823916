import type { Container } from '../../../kube/generated/core-v1.ts';
import { linkSignals } from '../../../lib/abort.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { Driver } from '../drivers/driver.ts';
import type { ContainerRun } from './model/container-runs.ts';
import { MINIMUM_GRACE_SECONDS } from './model/grace-period.ts';
import type { PodObject } from './model/pod-object.ts';
import type { PodEvents } from './pod-events.ts';

/** The moment until which something may take its time. It can only come nearer. */
export class Deadline {
  #clock: Clock;
  #due: number;
  #timer: Timer | undefined;
  #controller = new AbortController();

  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.#due = clock.monotonic() + ms;
    this.#arm();
  }

  get passed(): AbortSignal {
    return this.#controller.signal;
  }

  get leftMs(): number {
    return Math.max(0, this.#due - this.#clock.monotonic());
  }

  shorten(ms: number): void {
    const due = this.#clock.monotonic() + ms;
    if (due >= this.#due) return;
    this.#due = due;
    this.#arm();
  }

  cancel(): void {
    this.#timer?.cancel();
  }

  #arm(): void {
    this.#timer?.cancel();
    if (this.leftMs === 0) this.#controller.abort();
    else {
      this.#timer = this.#clock.setTimer(this.leftMs, () => this.#controller.abort());
      this.#timer.hold?.();
    }
  }
}

export interface StopPorts {
  clock: Clock;
  log: Log;
  driver: Pick<Driver, 'signal'>;
  events: PodEvents;
  preStop(pod: PodObject, container: Container, run: ContainerRun, signal: AbortSignal): Promise<void>;
  /** SIGTERM, or what the container or its image says. */
  stopSignal(pod: PodObject, container: Container | undefined): Promise<NodeJS.Signals>;
  /** Resolves when the end of the run is known. */
  ended(run: ContainerRun): Promise<void>;
}

export interface StopOrder {
  pod: PodObject;
  container: Container | undefined;
  run: ContainerRun;
  message: string;
  deadline: Deadline;
  /** What has to end first, within the same time. */
  turn: Promise<unknown>;
}

/** Ends one container: preStop hook, its turn, the stop signal, and when its time is over SIGKILL. Resolves when it has ended. */
export async function stopContainer(ports: StopPorts, order: StopOrder): Promise<void> {
  const { pod, container, run, deadline } = order;
  const ended = ports.ended(run);
  ports.events.record(pod, 'Normal', 'Killing', order.message, run.name);
  if (container?.lifecycle?.preStop && deadline.leftMs > 0) await preStop(ports, order, container, ended);
  await Promise.race([order.turn, ended, fired(deadline.passed)]);
  if (run.end) return;
  await send(ports, run, await ports.stopSignal(pod, container));
  // Whoever gets its signal late has still a moment to end by itself.
  const minimum = new Deadline(ports.clock, MINIMUM_GRACE_SECONDS * 1000);
  await Promise.race([ended, Promise.all([fired(deadline.passed), fired(minimum.passed)])]);
  minimum.cancel();
  if (run.end) return;
  await send(ports, run, 'SIGKILL');
  await ended;
}

async function preStop(ports: StopPorts, { pod, run, deadline }: StopOrder, container: Container, ended: Promise<void>): Promise<void> {
  // Nobody waits for the hook of a container that has ended.
  const until = linkSignals(deadline.passed);
  const stopWaiting = ended.then(() => until.abort());
  const hook = ports.preStop(pod, container, run, until.signal).catch((error: unknown) => {
    if (deadline.passed.aborted || run.end) return;
    ports.log.info('a preStop hook failed', { pod: pod.metadata.name, container: container.name, error });
    ports.events.record(pod, 'Warning', 'FailedPreStopHook', 'PreStopHook failed', container.name);
  });
  await Promise.race([hook, stopWaiting, fired(deadline.passed)]);
  until.dispose();
}

async function send({ driver, log }: StopPorts, run: ContainerRun, signal: NodeJS.Signals): Promise<void> {
  try {
    await driver.signal(run.id, signal);
  } catch (error) {
    // It may have ended just now; if it did not, the next signal or the next pass will tell.
    if (!run.end) log.debug('cannot send a signal', { container: run.id, signal, error });
  }
}

function fired(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
