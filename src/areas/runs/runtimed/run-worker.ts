import { ARTIFACTS_VARIABLE, OUTPUTS_VARIABLE } from '../../../api/kruntimes.io/v1alpha1/names.ts';
import { RunCondition, RunMessage } from '../../../api/kruntimes.io/v1alpha1/reasons.ts';
import type { Run, RunStatus } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { formatGoDuration, parseGoDuration } from '../../../kube/go-duration.ts';
import { isStatusError } from '../../../kube/status.ts';
import { parseTime } from '../../../kube/time.ts';
import { sleep } from '../../../lib/abort.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import { mergeDifference } from '../../../runtime/steps/merge-difference.ts';
import { backoffBefore, decideRetry } from '../model/retry.ts';
import { patiently } from '../patience.ts';
import { LIMITS_UNAVAILABLE } from '../protocol/error-texts.ts';
import type { StepResult, TraceStep } from '../tracing/attempt-spans.ts';
import { attemptOf, isTerminal, phaseOf } from '../../../api/kruntimes.io/v1alpha1/run-state.ts';
import { afterFailedAttempt, claimed, failed, succeeded, type Failure } from '../model/transitions.ts';
import type { Outputs } from './outputs.ts';
import { EnvironmentError } from './run-environment.ts';
import { RunLog } from './run-log.ts';
import type { RuntimedMetrics } from './runtimed-metrics.ts';
import { isGrpcError, type ExecutionEnd, type ExecutionOrder, type RuntimeClient } from './runtime-client.ts';
import { SourceError } from './source.ts';

export interface RunWorkerPorts {
  pod: { name: string; uid: string };
  /** Writes the status if the Run is still as it was read. @returns the Run as it is then */
  writeStatus(run: Run, status: RunStatus): Promise<Run>;
  /** The Run as it is now; undefined when it is gone. */
  read(run: Run): Promise<Run | undefined>;
  environment(run: Run): Promise<Record<string, string>>;
  /** Makes the Run's folder with its source. @returns the folder as the Runtime Server sees it */
  prepare(run: Run, signal: AbortSignal): Promise<{ workingDir: string; outputs: string; artifacts?: string }>;
  readOutputs(run: Run): Promise<Outputs>;
  /** Stores what the Run left in its artifacts folder. */
  storeArtifacts?(run: Run, signal: AbortSignal): Promise<{ run: Run; artifactRefs: RunStatus['artifactRefs'] } | { failure: Failure }>;
  /** Keeps a log that is too large for the status. @returns where */
  keepLog(run: Run, text: string): Promise<string | undefined>;
  /** Removes the folder of the Run with this uid, in the background of everything else. */
  cleanUp(uid: string): void;
  runtime: RuntimeClient;
  isolation: { isolation: string; network: boolean };
  print(line: string): void;
  clock: Clock;
  log: Log;
  metrics: RuntimedMetrics;
  trace: TraceStep;
  event(run: Run, type: 'Normal' | 'Warning', reason: string, message: string): void;
}

type Interruption = 'cancelled' | 'deleted' | 'lost' | 'stopping';

/** Thrown by whatever waits when the Run is to end for a reason from outside. */
class Interrupted extends Error {
  readonly why: Interruption;

  constructor(why: Interruption) {
    super(why);
    this.why = why;
  }
}

/** One Run on this Pod, from its claim to its end. Runs are independent: nothing that one waits for keeps another. */
export class RunWorker {
  readonly #ports: RunWorkerPorts;
  readonly #interrupt = new AbortController();
  /** Fires when the Run is not ours any more, or we go: until then it is told how it ended, whatever else was asked for. */
  readonly #leave = new AbortController();
  readonly #log: RunLog;
  readonly #began: number;
  #run: Run;
  /** The end of the Run is being written: whoever else has ended it meanwhile is met there. */
  #isTelling = false;
  #prepared: Promise<ExecutionOrder> | undefined;
  /** How the program of the last attempt was started, if we started it. */
  #start: RunStatus['start'];

  constructor(run: Run, ports: RunWorkerPorts) {
    this.#run = run;
    this.#ports = ports;
    this.#began = ports.clock.monotonic();
    this.#log = new RunLog(run, ports.pod.name, () => new Date(ports.clock.now()), ports.print);
  }

  /** The version of the Run's end, if it has one: the watch may tell of older ones for a while. */
  get endVersion(): string | undefined {
    return isTerminal(phaseOf(this.#run)) ? this.#run.metadata.resourceVersion : undefined;
  }

  /** A newer state of the Run, from the watch. */
  update(run: Run): void {
    if (run.metadata.deletionTimestamp !== undefined) this.interrupt('deleted');
    else if (run.spec.cancelRequested) this.interrupt('cancelled');
    else if (run.status?.assignedPodUID !== undefined && run.status.assignedPodUID !== this.#ports.pod.uid) this.interrupt('lost');
  }

  /** The watch shows the Run no more. That may be our own doing. */
  outOfSight(): void {
    if (this.#isTelling) return;
    this.#patiently(() => this.#ports.read(this.#run)).then(
      (now) => {
        if (now === undefined || now.metadata.uid !== this.#run.metadata.uid) this.interrupt('deleted');
        else if (!this.#isOurs(now)) this.interrupt('lost');
      },
      () => {},
    );
  }

  interrupt(why: Interruption): void {
    if (!this.#interrupt.signal.aborted) this.#interrupt.abort(new Interrupted(why));
    if (why !== 'cancelled') this.#leave.abort(new Interrupted(why));
  }

  /**
   * Resolves when nothing is left to do for the Run here. `found`: it was claimed before we were restarted, and its program is still
   * there. `lost`: it was claimed, and there is no program.
   */
  async work(state: 'new' | 'found' | 'lost'): Promise<void> {
    try {
      this.update(this.#run);
      if (state === 'new') {
        const claiming = this.#claim();
        this.#prepareEarly();
        await claiming;
      }
      await this.#attempts(state);
    } catch (error) {
      await this.#interrupted(error);
    } finally {
      this.#ports.metrics.finished(this.#run.spec.runtime, phaseOf(this.#run), this.#seconds());
    }
  }

  get #signal(): AbortSignal {
    return this.#interrupt.signal;
  }

  #now(): Date {
    return new Date(this.#ports.clock.now());
  }

  /** Since the Run came here. */
  #seconds(): number {
    return (this.#ports.clock.monotonic() - this.#began) / 1000;
  }

  async #claim(): Promise<void> {
    this.#signal.throwIfAborted();
    await this.#ports.trace(this.#run, 'claimed', () => this.#write((run) => claimed(run, this.#now())));
  }

  /** Runs the program, again and again as the policy allows. */
  async #attempts(state: 'new' | 'found' | 'lost'): Promise<void> {
    for (let next = state; ; next = 'new') {
      const result = await this.#attempt(next);
      if (!('reason' in result)) return this.#succeed(result);
      this.#ports.metrics.failedAttempt(this.#run.spec.runtime, result.reason);
      const wait = await this.#fail(result);
      if (wait === undefined) return;
      await sleep(this.#ports.clock, wait, this.#signal);
      await this.#claim();
      this.#ports.event(this.#run, 'Normal', 'RunRetrying', `attempt ${this.#run.status?.attempt} begins`);
    }
  }

  async #attempt(state: 'new' | 'found' | 'lost'): Promise<{ exitCode: number } | Failure> {
    const { runtime, trace } = this.#ports;
    const id = this.#run.metadata.uid!;
    if (state !== 'new' && isBetweenAttempts(this.#run)) return this.#nextAttempt();
    if (state === 'lost') return { reason: 'ExecutionLost', message: RunMessage.executionLostAfterRestart };
    try {
      const order = state === 'new' ? await trace(this.#run, 'prepare source', () => this.#takePrepared()) : undefined;
      const work = async () => {
        if (order !== undefined) await this.#execute(order);
        return runtime.follow(id, (stream, data) => this.#log.write(stream, data), this.#signal);
      };
      const end = await trace(this.#run, 'execute', work, (result) => this.#resultOf(result));
      this.#log.flush();
      return end.succeeded ? { exitCode: end.exitCode } : this.#failureOf(end);
    } catch (error) {
      this.#signal.throwIfAborted();
      this.#log.flush();
      return failureOfError(error);
    }
  }

  /** We were restarted while the Run waited for its next attempt: the failure before it is counted already. */
  async #nextAttempt(): Promise<{ exitCode: number } | Failure> {
    const since = parseTime(findCondition(this.#run.status?.conditions, RunCondition.Running)?.lastTransitionTime ?? '') ?? 0;
    const backOff = backoffBefore(this.#run, attemptOf(this.#run));
    // A clock that was set back must not make it longer.
    const wait = Math.min(backOff, since + backOff - this.#ports.clock.now());
    await sleep(this.#ports.clock, Math.max(0, wait), this.#signal);
    await this.#forget();
    await this.#claim();
    return this.#attempt('new');
  }

  /** While the claim is on its way, if nobody has to be asked for what is needed: a folder alone does nothing yet. */
  #prepareEarly(): void {
    const { source, env = [] } = this.#run.spec;
    if (this.#signal.aborted || source?.repoURL !== undefined || env.some(({ valueFrom }) => valueFrom !== undefined)) return;
    this.#prepared = this.#prepare();
    this.#prepared.catch(() => {});
  }

  /** What was prepared early serves one attempt. */
  #takePrepared(): Promise<ExecutionOrder> {
    const prepared = this.#prepared ?? this.#prepare();
    this.#prepared = undefined;
    return prepared;
  }

  async #prepare(): Promise<ExecutionOrder> {
    const run = this.#run;
    const [env, folder] = await Promise.all([this.#patiently(() => this.#ports.environment(run)), this.#ports.prepare(run, this.#signal)]);
    this.#signal.throwIfAborted();
    env[OUTPUTS_VARIABLE] = folder.outputs;
    if (folder.artifacts !== undefined) env[ARTIFACTS_VARIABLE] = folder.artifacts;
    const { task } = run.spec.mode;
    return {
      id: run.metadata.uid!,
      args: task?.args ?? [],
      env,
      workingDir: folder.workingDir,
      entrypoint: task?.entrypoint ?? '',
      timeoutMs: timeoutOf(run) ?? 0,
      ...this.#ports.isolation,
    };
  }

  async #execute(order: ExecutionOrder): Promise<void> {
    const { runtime, metrics } = this.#ports;
    this.#start = undefined;
    try {
      const { warm } = await runtime.execute(order, this.#signal);
      this.#start = warm ? 'Warm' : 'Cold';
    } catch (error) {
      throw new ExecuteError(error);
    }
    metrics.started(this.#run, this.#start, attemptOf(this.#run) === 1 ? this.#seconds() : undefined);
  }

  #resultOf({ succeeded: isWell, exitCode, errorMessage }: ExecutionEnd): StepResult {
    const attributes = { 'process.exit.code': exitCode, 'tenantry.run.start': this.#start };
    return isWell ? { attributes } : { attributes, error: errorMessage };
  }

  #failureOf({ exitCode, errorMessage }: ExecutionEnd): Failure {
    if (errorMessage === 'timeout') {
      return { reason: 'Timeout', message: RunMessage.timeout(formatGoDuration(timeoutOf(this.#run) ?? 0)), exitCode };
    }
    if (errorMessage.startsWith('out of memory')) return { reason: 'OOMKilled', message: errorMessage, exitCode };
    if (errorMessage.startsWith('interpreter not found')) return { reason: 'InterpreterMissing', message: errorMessage, exitCode };
    const prepares = /^(mkdir:|git clone:|git checkout:|write inline:)/.test(errorMessage) || errorMessage === 'no args or script provided';
    return { reason: prepares ? 'PrepareSource' : 'RuntimeError', message: errorMessage || `exit status ${exitCode}`, exitCode };
  }

  async #succeed({ exitCode }: { exitCode: number }): Promise<void> {
    const { trace, storeArtifacts } = this.#ports;
    const result = await trace(this.#run, 'outputs', () => this.#ports.readOutputs(this.#run));
    if ('reason' in result) return void (await this.#fail(result));
    let artifactRefs: RunStatus['artifactRefs'];
    if (storeArtifacts !== undefined) {
      const stored = await trace(this.#run, 'artifacts', () => storeArtifacts(this.#run, this.#signal));
      if ('failure' in stored) return void (await this.#fail(stored.failure));
      this.#run = stored.run;
      artifactRefs = stored.artifactRefs;
    }
    await trace(this.#run, 'terminal', async () => {
      const success = { outputs: result.outputs, exitCode, log: await this.#keepLog(), artifactRefs, start: this.#start };
      await this.#write((run) => succeeded(run, success, this.#now()));
    });
    if ((this.#run.status?.attempt ?? 1) > 1) this.#ports.event(this.#run, 'Normal', 'RunSucceeded', RunMessage.succeeded);
    await this.#release();
  }

  /** @returns how long to wait for the next attempt; undefined: there is none */
  async #fail(failure: Failure): Promise<number | undefined> {
    let retryAt: Date | undefined;
    const step = decideRetry(this.#run, failure.reason).retry ? 'retry' : 'terminal';
    await this.#ports.trace(this.#run, step, async () => {
      const end = { ...failure, log: await this.#keepLog(), start: this.#start };
      await this.#write((run) => {
        const next = afterFailedAttempt(run, end, this.#now());
        retryAt = next.retryAt;
        return next.status;
      });
    });
    if (retryAt === undefined) {
      this.#ports.event(this.#run, 'Warning', 'RunRetriesExhausted', `${failure.reason}: ${failure.message}`);
      await this.#release();
      return undefined;
    }
    this.#ports.event(this.#run, 'Warning', 'RunFailedRetrying', `${failure.reason}: ${failure.message}`);
    this.#ports.metrics.retried(this.#run.spec.runtime, failure.reason);
    // Before the next attempt is claimed: a runtimed after us must not take this one for it.
    await this.#forget();
    return Math.max(0, retryAt.getTime() - this.#ports.clock.now());
  }

  async #keepLog(): Promise<RunStatus['log']> {
    const { log, overflow } = this.#log.summary();
    if (log === undefined || overflow === undefined) return log;
    const configMapName = await this.#patiently(() => this.#ports.keepLog(this.#run, overflow));
    return configMapName === undefined ? log : { ...log, configMapName };
  }

  /**
   * Writes what `next` makes of the Run, however long the API server is away. When the Run has changed meanwhile, what it is now decides:
   * it may be what we wrote and never heard of, it may have been taken from us, or somebody may only have asked for something.
   */
  async #write(next: (run: Run) => RunStatus): Promise<void> {
    for (;;) {
      const wanted = next(this.#run);
      this.#isTelling = isTerminal(wanted.phase);
      const written = await this.#patiently(() => this.#tryWrite(wanted));
      if (written !== undefined) return void (this.#run = written);
      const current = await this.#patiently(() => this.#ports.read(this.#run));
      if (current === undefined || current.metadata.uid !== this.#run.metadata.uid) throw new Interrupted('deleted');
      this.#run = current;
      if (mergeDifference(current.status ?? {}, wanted) === undefined) return;
      if (!this.#isOurs(current)) throw new Interrupted('lost');
      this.update(current);
    }
  }

  #isOurs(run: Run): boolean {
    return !isTerminal(phaseOf(run)) && run.status?.assignedPodUID === this.#ports.pod.uid;
  }

  /** @returns undefined when the Run has changed */
  async #tryWrite(status: RunStatus): Promise<Run | undefined> {
    try {
      return await this.#ports.writeStatus(this.#run, status);
    } catch (error) {
      if (isStatusError(error, 'NotFound')) throw new Interrupted('deleted');
      if (!isStatusError(error, 'Conflict')) throw error;
      return undefined;
    }
  }

  #patiently<T>(ask: () => Promise<T>): Promise<T> {
    return patiently(this.#ports.clock, this.#leave.signal, ask);
  }

  async #interrupted(error: unknown): Promise<void> {
    const why = error instanceof Interrupted ? error.why : undefined;
    const { log, runtime } = this.#ports;
    const { namespace, name, uid } = this.#run.metadata;
    if (why === 'stopping') return;
    if (why === undefined) log.error('a Run could not be brought to its end', { run: `${namespace}/${name}`, error });
    await this.#prepared?.catch(() => {});
    // Whoever has the Run now must not meet a program of ours that still runs.
    await runtime.cancel(uid!).catch(() => {});
    this.#log.flush();
    // Nobody else knows that nothing will come any more.
    const message = error instanceof Error ? error.message : String(error);
    if (why === 'cancelled') await this.#endAs({ reason: 'Cancelled', message: RunMessage.cancelled });
    if (why === undefined) await this.#endAs({ reason: 'RuntimeError', message: `runtimed: ${message}` });
    await this.#release();
  }

  async #endAs(end: Failure): Promise<void> {
    await this.#ports
      .trace(this.#run, 'terminal', async () => {
        const log = await this.#keepLog();
        await this.#write((run) => failed(run, { ...end, log, start: this.#start }, this.#now()));
      })
      .catch(() => {});
  }

  /** Forgets the execution and removes its folder. */
  async #release(): Promise<void> {
    await this.#forget();
    this.#ports.cleanUp(this.#run.metadata.uid!);
  }

  async #forget(): Promise<void> {
    await this.#ports.runtime.forget(this.#run.metadata.uid!).catch((error: unknown) => {
      const isNothing = isGrpcError(error, 'NOT_FOUND') || isGrpcError(error, 'UNIMPLEMENTED');
      if (!isNothing) this.#ports.log.warn('cannot forget an execution', { error });
    });
  }
}

/** The Runtime Server refused to start the program, or could not be reached. */
class ExecuteError extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? ((cause as { details?: string }).details ?? cause.message) : String(cause), { cause });
  }
}

function isBetweenAttempts(run: Run): boolean {
  return attemptOf(run) > 1 && findCondition(run.status?.conditions, RunCondition.Running)?.status === 'False';
}

function failureOfError(error: unknown): Failure {
  if (error instanceof SourceError) return { reason: 'PrepareSource', message: `prepare source: ${error.message}` };
  if (error instanceof EnvironmentError) return { reason: 'InvalidEnvironment', message: error.message };
  if (error instanceof ExecuteError) {
    const message = `runtime Execute: ${error.message}`;
    if (!isGrpcError(error.cause, 'FAILED_PRECONDITION')) return { reason: 'RuntimeExecute', message };
    if (error.message.startsWith(LIMITS_UNAVAILABLE)) return { reason: 'LimitsUnavailable', message };
    return { reason: error.message.includes('isolation') ? 'IsolationUnavailable' : 'RuntimeExecute', message };
  }
  if (isGrpcError(error, 'NOT_FOUND')) {
    return { reason: 'ExecutionLost', message: RunMessage.executionLost };
  }
  throw error;
}

function timeoutOf(run: Run): number | undefined {
  return run.spec.timeout === undefined ? undefined : parseGoDuration(run.spec.timeout);
}
