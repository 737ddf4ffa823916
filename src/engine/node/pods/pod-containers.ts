import type { Container } from '../../../kube/generated/core-v1.ts';
import { sleep } from '../../../lib/abort.ts';
import { Backoff } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { ContainerEnd, Driver, DriverContainer } from '../drivers/driver.ts';
import { Deadline, stopContainer, type StopPorts } from './container-stopper.ts';
import { BackOff, durationText, RESTART_BACK_OFF } from './model/back-off.ts';
import { ContainerRuns, lostEnd, runId, runsFromStatus, type ContainerRun, type RunEnd } from './model/container-runs.ts';
import type { Waiting } from './model/container-statuses.ts';
import { containerNamed, podText, referenceTo, statusesOf, type PodObject } from './model/pod-object.ts';
import type { PodEvents } from './pod-events.ts';
import type { PodFiles } from './pod-files.ts';
import type { Sandbox } from './sandbox.ts';
import { StartFailure } from './start-failure.ts';

export interface ContainerPorts {
  clock: Clock;
  log: Log;
  driver: Pick<Driver, 'signal' | 'ended' | 'remove' | 'list'>;
  events: PodEvents;
  files: PodFiles;
  stopSignal: StopPorts['stopSignal'];
  preStop: StopPorts['preStop'];
  /** Rejects with a StartFailure. */
  start(pod: PodObject, container: Container, attempt: number, sandbox: Sandbox, signal: AbortSignal): Promise<ContainerRun>;
  /** Rejects with the message to show. */
  postStart(pod: PodObject, container: Container, run: ContainerRun, signal: AbortSignal): Promise<void>;
  /** What a failed container said last, for FallbackToLogsOnError. */
  lastLines(logPath: string): Promise<string>;
}

export interface ContainerListener {
  /** Something is to be done or told. */
  changed(): void;
  ended(run: ContainerRun): void;
  comeBack(ms: number): void;
}

/** The containers of one Pod: which runs there were and are, how one starts and how one ends. */
export class PodContainers {
  readonly runs = new ContainerRuns();
  /** Why a container that should run does not. */
  readonly waiting = new Map<string, Waiting>();
  #ports: ContainerPorts;
  #listener: ContainerListener;
  #backOff = new BackOff(RESTART_BACK_OFF);
  #endings = new Map<string, Promise<void>>();
  #inDriver = new Set<string>();

  constructor(ports: ContainerPorts, listener: ContainerListener) {
    this.#ports = ports;
    this.#listener = listener;
  }

  /**
   * Takes over what an agent before this one started, and what the API remembers.
   * @param sandboxLives false after a restart of the machine: then everything begins again.
   */
  async adopt(pod: PodObject, found: readonly DriverContainer[], sandboxLives: boolean): Promise<void> {
    const statuses = statusesOf(pod);
    const newest = [...found].sort((a, b) => b.attempt - a.attempt);
    for (const { id, name, attempt, startedAt, end } of newest) {
      const status = statuses.find((candidate) => candidate.containerID?.endsWith(`//${id}`));
      const image = status && status.imageID !== '' ? { name: status.image, id: status.imageID } : undefined;
      const run: ContainerRun = { id, name, attempt, startedAt, image };
      this.#inDriver.add(id);
      if (end) run.end = await this.#describe(pod, run, end);
      await this.#drop(pod, this.runs.add(run));
      if (!end) this.#follow(pod, run);
    }
    const known = new Set(found.map(({ id }) => id));
    for (const run of runsFromStatus(pod, known, new Date(this.#ports.clock.now()))) this.runs.add(run);
    if (!sandboxLives) for (const run of this.runs.all()) if (run.end) run.stale = true;
  }

  /** @returns whether the container runs now. */
  async start(pod: PodObject, name: string, sandbox: Sandbox, signal: AbortSignal): Promise<boolean> {
    const container = containerNamed(pod.spec!, name)!;
    const newest = this.runs.newest(name);
    if (newest && !newest.end) return true;
    if (newest?.end && this.#holdsBack(pod, name, newest.end)) return false;
    const attempt = newest ? newest.attempt + 1 : ((await this.#ports.files.attempts(referenceTo(pod), name))[0] ?? -1) + 1;
    try {
      const run = await this.#ports.start(pod, container, attempt, sandbox, signal);
      this.#inDriver.add(run.id);
      this.waiting.delete(name);
      await this.#drop(pod, this.runs.add(run));
      this.#follow(pod, run);
      if (container.lifecycle?.postStart) await this.#postStart(pod, container, run, signal);
    } catch (error) {
      if (!(error instanceof StartFailure)) throw error;
      await this.#failed(pod, name, attempt, error);
      return false;
    }
    this.#listener.changed();
    return this.runs.newest(name)?.end === undefined;
  }

  /** Ends one container that runs; resolves when it has. */
  stop(pod: PodObject, run: ContainerRun, options: { message: string; deadline: Deadline; turn?: Promise<unknown> }): Promise<void> {
    const ports: StopPorts = { ...this.#ports, ended: ({ id }) => this.#endings.get(id) ?? Promise.resolve() };
    const container = containerNamed(pod.spec!, run.name);
    return stopContainer(ports, { pod, container, run, ...options, turn: options.turn ?? Promise.resolve() });
  }

  /** When the end of the container's newest run is known. */
  whenEnded(name: string): Promise<void> {
    const run = this.runs.newest(name);
    return (run && this.#endings.get(run.id)) ?? Promise.resolve();
  }

  /** Undoes what the driver made of all runs, which have ended. */
  async remove(): Promise<void> {
    await Promise.all(
      [...this.#inDriver].map(async (id) => {
        await this.#ports.driver.remove(id);
        this.#inDriver.delete(id);
      }),
    );
  }

  #holdsBack(pod: PodObject, name: string, end: RunEnd): boolean {
    const now = this.#ports.clock.now();
    const failedAt = end.finishedAt.getTime();
    const left = this.#backOff.left(name, failedAt, now);
    if (left > 0) {
      const wait = durationText(this.#backOff.waitMs(name));
      const message = `back-off ${wait} restarting failed container=${name} pod=${podText(pod)}`;
      const known = this.waiting.get(name);
      if (known?.reason !== 'CrashLoopBackOff' || known.message !== message) {
        this.waiting.set(name, { reason: 'CrashLoopBackOff', message });
        this.#ports.events.record(pod, 'Warning', 'BackOff', `Back-off restarting failed container ${name} in pod ${podText(pod)}`, name);
        this.#listener.changed();
      }
      this.#listener.comeBack(left);
      return true;
    }
    this.#backOff.advance(name, failedAt, now);
    return false;
  }

  async #failed(pod: PodObject, name: string, attempt: number, failure: StartFailure): Promise<void> {
    const { reason, message, exitCode, retryAfterMs } = failure;
    this.waiting.set(name, { reason, message });
    if (exitCode !== undefined) {
      // It was made and could not be run: that counts as a run, and is held back like one.
      const id = runId(pod.metadata.uid!, name, attempt);
      const end = { exitCode, reason: 'StartError', message, finishedAt: new Date(this.#ports.clock.now()) };
      await this.#drop(pod, this.runs.add({ id, name, attempt, startedAt: new Date(0), end }));
      this.#listener.comeBack(0);
    } else this.#listener.comeBack(retryAfterMs);
    this.#listener.changed();
  }

  async #postStart(pod: PodObject, container: Container, run: ContainerRun, signal: AbortSignal): Promise<void> {
    try {
      await this.#ports.postStart(pod, container, run, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#ports.log.info('a postStart hook failed', { pod: pod.metadata.name, container: container.name, error });
      this.#ports.events.record(pod, 'Warning', 'FailedPostStartHook', 'PostStartHook failed', container.name);
      this.waiting.set(container.name, { reason: 'PostStartHookError', message: (error as Error).message });
      const deadline = new Deadline(this.#ports.clock, (pod.spec!.terminationGracePeriodSeconds ?? 30) * 1000);
      await this.stop(pod, run, { message: 'FailedPostStartHook', deadline }).finally(() => deadline.cancel());
    }
  }

  #follow(pod: PodObject, run: ContainerRun): void {
    const ending = this.#seeEnd(run).then(async (end) => {
      run.end = end ? await this.#describe(pod, run, end) : lostEnd(new Date(this.#ports.clock.now()));
      this.#listener.ended(run);
    });
    this.#endings.set(run.id, ending);
  }

  /** Undefined when nobody knows how it ended: the shim was killed, and the container went with it. Never rejects. */
  async #seeEnd({ id }: ContainerRun): Promise<ContainerEnd | undefined> {
    const { driver, log, clock } = this.#ports;
    const backoff = new Backoff({ initialMs: 100, maxMs: 5000 });
    for (;;) {
      try {
        return await driver.ended(id);
      } catch (error) {
        log.info('lost sight of a container, looking for it again', { container: id, error });
        const found = await driver.list().catch(() => undefined);
        if (found && !found.some((container) => container.id === id)) return undefined;
        await sleep(clock, backoff.next());
      }
    }
  }

  async #describe(pod: PodObject, run: ContainerRun, end: ContainerEnd): Promise<RunEnd> {
    const { exitCode, finishedAt, oomKilled } = end;
    const reason = oomKilled ? 'OOMKilled' : exitCode === 0 ? 'Completed' : 'Error';
    const message = await this.#lastWords(pod, run, exitCode);
    return { exitCode, reason, finishedAt, ...(message === '' ? {} : { message }) };
  }

  async #lastWords(pod: PodObject, { name, attempt }: ContainerRun, exitCode: number): Promise<string> {
    const { files, lastLines } = this.#ports;
    const container = containerNamed(pod.spec!, name);
    if (!container) return '';
    const message = container.terminationMessagePath ? await files.terminationMessage(pod.metadata.uid!, name, attempt) : '';
    if (message !== '' || exitCode === 0 || container.terminationMessagePolicy !== 'FallbackToLogsOnError') return message;
    return lastLines(files.logPath(referenceTo(pod), name, attempt)).catch(() => '');
  }

  /** Runs that nobody asks for any more. */
  async #drop(pod: PodObject, runs: readonly ContainerRun[]): Promise<void> {
    const reference = referenceTo(pod);
    for (const { id, name, attempt } of runs) {
      this.#endings.delete(id);
      if (this.#inDriver.delete(id)) await this.#ports.driver.remove(id);
      await this.#ports.files.removeLogs(reference, name, attempt);
      await this.#ports.files.removeMessage(reference.uid, name, attempt);
    }
  }
}
