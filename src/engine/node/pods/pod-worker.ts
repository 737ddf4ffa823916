import type { PodStatus } from '../../../kube/generated/core-v1.ts';
import { parseTime } from '../../../kube/time.ts';
import { Backoff } from '../../../lib/backoff.ts';
import type { Timer } from '../../../lib/clock.ts';
import type { DriverContainer } from '../drivers/driver.ts';
import { Deadline } from './container-stopper.ts';
import { whyRefused } from './model/admission.ts';
import type { ContainerRun } from './model/container-runs.ts';
import { endsAfter, graceSeconds } from './model/grace-period.ts';
import { podActions, type Kill } from './model/pod-actions.ts';
import type { Finding } from './model/pod-conditions.ts';
import { containerNamed, isTerminal, type PodObject } from './model/pod-object.ts';
import { podStatus } from './model/pod-status.ts';
import { PodContainers } from './pod-containers.ts';
import type { Sandbox } from './sandbox.ts';
import { StatusWriter } from './status-writer.ts';
import type { WorkerPorts } from './worker-ports.ts';

export interface Adoption {
  containers: readonly DriverContainer[];
  sandboxLives: boolean;
  /** Something of it is on this machine. */
  hasTraces: boolean;
}

/** Sandboxes and volumes that cannot be had now: no watch tells when they can. */
const RETRY = { initialMs: 250, maxMs: 5000, jitter: 0.2 };

/** Nobody who stops the machine's `up` waits for longer, whatever the Pod asks for. */
const SHUT_DOWN_GRACE_SECONDS = 30;

/**
 * Brings one Pod to life, keeps it as it should be, and ends it. It is woken by whatever changes and does one pass at a time: looks at what
 * there is, decides (model/), acts. A pass that must end early, because the Pod is deleted, is told so by a signal.
 */
export class PodWorker {
  readonly uid: string;
  readonly containers: PodContainers;
  #ports: WorkerPorts;
  #writer: StatusWriter;
  #sandbox: Sandbox | undefined;
  #abort = new AbortController();
  #awake = false;
  #begun = false;
  #working = false;
  #released = false;
  #timer: { timer: Timer; due: number } | undefined;
  #backoff = new Backoff(RETRY);
  #admitted = false;
  #refused = false;
  #failure: { reason: string; message: string } | undefined;
  #conditions: Finding[] = [];
  /** The metadata that its volumes were last made from. */
  #shown = '';
  /** The Pod is not in the API any more. */
  #removed = false;
  /** Nothing of it shall be started again, because it is complete. */
  #complete = false;
  #shutDown = false;
  #cleared = false;
  #deleteSent = false;
  /** Of the whole Pod, once it ends. */
  #deadline: Deadline | undefined;
  /** Of containers that are to be restarted. */
  #deadlines = new Set<Deadline>();
  #clearWaiters: (() => void)[] = [];

  constructor(pod: PodObject, ports: WorkerPorts) {
    this.uid = pod.metadata.uid!;
    this.#ports = ports;
    this.containers = new PodContainers(ports, {
      changed: () => this.#report(),
      ended: (run) => this.#containerEnded(run),
      comeBack: (ms) => this.#wakeAfter(ms),
    });
    this.#writer = new StatusWriter({
      pod,
      clock: ports.clock,
      log: ports.log,
      compute: (latest) => this.status(latest),
      patch: (latest, status) => ports.patchStatus(latest, status),
    });
  }

  get pod(): PodObject {
    return this.#writer.pod;
  }

  get sandbox(): Sandbox | undefined {
    return this.#sandbox;
  }

  /** Everything it held on this machine is gone, or nothing ever was there. */
  get cleared(): boolean {
    return this.#cleared;
  }

  /** Nothing of it is started any more, whatever the reason; what runs is ended. */
  get isEnding(): boolean {
    const { pod } = this;
    const deleted = pod.metadata.deletionTimestamp !== undefined;
    return this.#removed || deleted || this.#shutDown || this.#complete || this.#failure !== undefined || isTerminal(pod);
  }

  /** Begins, with what an agent before this one may have left. */
  async begin({ containers, sandboxLives, hasTraces }: Adoption): Promise<void> {
    await this.containers.adopt(this.pod, containers, sandboxLives);
    if (this.containers.runs.newest(this.pod.spec!.containers[0].name)) this.#admitted = true;
    if (isTerminal(this.pod) && !hasTraces) this.#cleared = true;
    // Not before everything that runs is known: what comes in meanwhile must not start it a second time.
    this.#begun = true;
    this.#writer.changed(false);
    this.wake();
  }

  /** A new version of the Pod; or one that an answer to a write of ours told of already, to which nobody has turned yet. */
  update(pod: PodObject): void {
    this.#writer.observe(pod);
    if (this.isEnding) this.#endSoon();
    else this.#refreshVolumes();
    this.#report();
    this.wake();
  }

  /** The Pod is gone from the API, whatever still runs. */
  remove(pod: PodObject): void {
    this.#writer.observe(pod);
    this.#writer.close();
    this.#removed = true;
    this.#endSoon();
    this.wake();
  }

  /** Fails the Pod for a reason of the node. */
  evict(reason: string, message: string, condition?: Finding): void {
    if (this.isEnding) return;
    this.#failure = { reason, message };
    this.#ports.events.record(this.pod, 'Warning', reason, message);
    if (condition) this.#conditions = [condition];
    this.#endSoon();
    this.wake();
  }

  /** Ends all containers and leaves nothing on the machine; the Pod stays in the API. */
  async shutDown(): Promise<void> {
    this.#shutDown = true;
    this.#endSoon();
    this.wake();
    if (!this.#cleared) await new Promise<void>((resolve) => this.#clearWaiters.push(resolve));
    if (!this.#removed) await this.#writer.flush();
  }

  /** Lets go: whatever runs goes on running. */
  release(): void {
    this.#released = true;
    this.#timer?.timer.cancel();
    this.#writer.close();
    for (const { id } of this.containers.runs.running()) this.#ports.probes.stop(id);
    this.#abort.abort();
  }

  status(pod: PodObject): PodStatus {
    const { probes, driverName, missingIsolation, hostIps, clock } = this.#ports;
    return podStatus({
      pod,
      runs: this.containers.runs,
      waiting: this.containers.waiting,
      probes,
      driver: driverName,
      ended: this.#complete,
      failure: this.#failure,
      refused: this.#refused,
      conditions: this.#conditions,
      sandboxReady: this.#sandbox !== undefined && !this.#cleared,
      podIps: this.#sandbox?.addresses ?? [],
      hostIps,
      missingIsolation,
      now: new Date(clock.now()),
    });
  }

  wake(): void {
    this.#awake = true;
    if (!this.#begun || this.#working || this.#released) return;
    this.#working = true;
    void this.#work();
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    while (this.#awake && !this.#released) {
      this.#awake = false;
      const ending = this.isEnding;
      try {
        await (ending ? this.#finish() : this.#pass(this.#abort.signal));
        this.#backoff.reset();
      } catch (error) {
        if (!ending && this.#abort.signal.aborted) {
          // Cut short, because the Pod ends.
          this.#awake = true;
          continue;
        }
        const wait = this.#backoff.next();
        this.#ports.log.info('a pass over a Pod failed, will try again', { pod: this.pod.metadata.name, wait, error });
        this.#wakeAfter(wait);
      }
    }
    this.#working = false;
  }

  async #pass(signal: AbortSignal): Promise<void> {
    const { pod, containers } = this;
    if (this.#isLate() || this.#isRefused()) return this.#finish();
    const actions = podActions(pod, containers.runs, this.#ports.probes);
    if (actions.end) {
      this.#complete = true;
      return this.#finish();
    }
    const starts = actions.startEphemeral.length + actions.startInit.length + actions.start.length;
    if (!this.#sandbox && (starts > 0 || containers.runs.running().length > 0)) {
      this.#shown = shownIn(pod);
      this.#sandbox = await this.#ports.setUpSandbox(pod);
    }
    signal.throwIfAborted();
    this.#refreshVolumes();
    this.#probeRuns();
    await Promise.all(actions.kill.map((kill) => this.#kill(kill)));
    for (const name of actions.startEphemeral) await this.#start(name, signal);
    for (const name of actions.startInit) {
      const sidecar = containerNamed(pod.spec!, name)?.restartPolicy === 'Always';
      if (!(await this.#start(name, signal)) && !sidecar) return;
    }
    for (const name of actions.start) await this.#start(name, signal);
    // A sidecar that has just started may be all that the next one waits for.
    if (actions.startInit.length > 0) this.#awake = true;
  }

  #refreshVolumes(): void {
    const shown = shownIn(this.pod);
    if (!this.#sandbox || shown === this.#shown) return;
    this.#shown = shown;
    this.#ports.refreshVolumes(this.pod).catch((error: unknown) => {
      this.#ports.log.info('cannot bring the volumes of a Pod up to date', { pod: this.pod.metadata.name, error });
    });
  }

  async #start(name: string, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const runs = await this.containers.start(this.pod, name, this.#sandbox!, signal);
    this.#probeRuns();
    return runs;
  }

  #probeRuns(): void {
    const { pod } = this;
    for (const run of this.containers.runs.running()) {
      const container = containerNamed(pod.spec!, run.name);
      if (!container) continue;
      const before = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])];
      const known = before.find(({ containerID }) => containerID?.endsWith(`//${run.id}`));
      this.#ports.probes.start({
        pod,
        container,
        runId: run.id,
        startedAt: run.startedAt.getTime(),
        podIp: this.#sandbox?.addresses[0] ?? '',
        before: known && { started: known.started ?? false, ready: known.ready },
        changed: () => {
          this.#report();
          this.wake();
        },
      });
    }
  }

  async #kill({ runId, name, message, reason }: Kill): Promise<void> {
    const run = this.containers.runs.running().find(({ id }) => id === runId);
    if (!run) return;
    const grace = graceSeconds(this.pod, containerNamed(this.pod.spec!, name), reason);
    const deadline = new Deadline(this.#ports.clock, grace * 1000);
    this.#deadlines.add(deadline);
    try {
      await this.containers.stop(this.pod, run, { message, deadline });
    } finally {
      deadline.cancel();
      this.#deadlines.delete(deadline);
    }
  }

  #containerEnded(run: ContainerRun): void {
    this.#ports.probes.stop(run.id);
    this.#report();
    this.wake();
  }

  #isRefused(): boolean {
    if (this.#admitted) return false;
    this.#admitted = true;
    const refusal = whyRefused(this.pod, this.#ports.abilities());
    if (!refusal) return false;
    this.#ports.events.record(this.pod, 'Warning', refusal.reason, refusal.message);
    this.#refused = true;
    this.#failure = { reason: refusal.reason, message: `Pod was rejected: ${refusal.message}` };
    return true;
  }

  #isLate(): boolean {
    const { activeDeadlineSeconds } = this.pod.spec!;
    const startTime = this.pod.status?.startTime;
    if (activeDeadlineSeconds === undefined) return false;
    const began = (startTime ? parseTime(startTime) : undefined) ?? this.#ports.clock.now();
    const left = began + activeDeadlineSeconds * 1000 - this.#ports.clock.now();
    if (left > 0) {
      this.#wakeAfter(left);
      return false;
    }
    this.#failure = { reason: 'DeadlineExceeded', message: 'Pod was active on the node longer than the specified deadline' };
    this.#ports.events.record(this.pod, 'Normal', 'DeadlineExceeded', this.#failure.message);
    return true;
  }

  /** What is under way is cut short, and a shorter time to end counts from now on. */
  #endSoon(): void {
    this.#abort.abort();
    this.#deadline?.shorten(this.#graceMs());
    for (const deadline of this.#deadlines) deadline.shorten(this.#graceMs());
  }

  async #finish(): Promise<void> {
    this.#abort.abort();
    await this.#stopAll();
    if (!this.#shutDown) this.#complete = true;
    const told = this.#removed ? undefined : this.#writer.flush();
    if (!this.#cleared) {
      await this.containers.remove();
      await this.#ports.tearDownSandbox(this.uid);
      this.#cleared = true;
      for (const resolve of this.#clearWaiters.splice(0)) resolve();
      if (this.#sandbox && !this.#removed) this.#writer.changed(false);
    }
    if (this.#removed) {
      await this.#ports.files.removeAllLogs({ namespace: this.pod.metadata.namespace!, name: this.pod.metadata.name!, uid: this.uid });
      this.#ports.gone(this.uid);
      return;
    }
    await told;
    if (this.pod.metadata.deletionTimestamp === undefined || this.#deleteSent || this.#shutDown) return;
    await this.#ports.deletePod(this.pod);
    this.#deleteSent = true;
  }

  async #stopAll(): Promise<void> {
    const { pod } = this;
    const running = this.containers.runs.running();
    if (running.length === 0) return;
    this.#deadline ??= new Deadline(this.#ports.clock, this.#graceMs());
    const deadline = this.#deadline;
    for (const { id } of running) this.#ports.probes.stop(id);
    await Promise.all(
      running.map((run) => {
        const turn = Promise.all(endsAfter(pod, run.name).map((name) => this.containers.whenEnded(name)));
        return this.containers.stop(pod, run, { message: `Stopping container ${run.name}`, deadline, turn });
      }),
    );
    deadline.cancel();
  }

  #graceMs(): number {
    const seconds = graceSeconds(this.pod, undefined, 'podEnds');
    return 1000 * (this.#shutDown ? Math.min(seconds, SHUT_DOWN_GRACE_SECONDS) : seconds);
  }

  /** A Pod that ends is told of when it has ended, in one write; unless that takes long. */
  #report(): void {
    if (this.#begun && !this.#removed && !this.#released) this.#writer.changed(!this.isEnding);
  }

  #wakeAfter(ms: number): void {
    const { clock } = this.#ports;
    const due = clock.monotonic() + ms;
    if (this.#timer && this.#timer.due <= due) return;
    this.#timer?.timer.cancel();
    const timer = clock.setTimer(ms, () => {
      this.#timer = undefined;
      this.wake();
    });
    this.#timer = { timer, due };
  }
}

/** Labels and annotations are all of a running Pod that its volumes can show and a user can change. */
function shownIn({ metadata }: PodObject): string {
  return JSON.stringify([metadata.labels, metadata.annotations]);
}
