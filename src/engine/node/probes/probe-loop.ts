import type { Probe } from '../../../kube/generated/core-v1.ts';
import { timeoutSignal } from '../../../lib/abort.ts';
import type { Random } from '../../../lib/backoff.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import { errorText } from '../../../lib/log.ts';
import type { ProbeOutcome } from './probe-outcome.ts';

export type ProbeKind = 'Startup' | 'Readiness' | 'Liveness';

export interface ProbeLoopOptions {
  kind: ProbeKind;
  probe: Probe;
  clock: Clock;
  random: Random;
  startedAt: number;
  /** The container was running before this agent: probes of many containers must not all come at once. */
  adopted: boolean;
  /** Rejects when it could not even be tried. */
  run(probe: Probe, timeoutMs: number, signal: AbortSignal): Promise<ProbeOutcome>;
  /** Called when the thresholds are passed. */
  result(healthy: boolean): void;
  unhealthy(reason: 'Unhealthy' | 'ProbeWarning', message: string): void;
}

/** Attempts at a probe that could not be made. */
const ATTEMPTS = 3;

/** Probes one container in one way, until it is stopped. */
export class ProbeLoop {
  #options: ProbeLoopOptions;
  #timer: Timer | undefined;
  #stopped = new AbortController();
  #last: boolean | undefined;
  #inARow = 0;

  constructor(options: ProbeLoopOptions) {
    this.#options = options;
  }

  start(): void {
    const { probe, clock, startedAt, adopted, random } = this.#options;
    const initial = startedAt + (probe.initialDelaySeconds ?? 0) * 1000 - clock.now();
    const spread = adopted ? random() * this.#periodMs : 0;
    this.#schedule(Math.max(0, initial) + spread);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#stopped.abort();
  }

  get #periodMs(): number {
    return (this.#options.probe.periodSeconds ?? 10) * 1000;
  }

  #schedule(ms: number): void {
    if (this.#stopped.signal.aborted) return;
    this.#timer = this.#options.clock.setTimer(ms, () => void this.#tick());
  }

  async #tick(): Promise<void> {
    const began = this.#options.clock.monotonic();
    const healthy = await this.#probe();
    if (this.#stopped.signal.aborted) return;
    const goesOn = healthy === undefined || this.#count(healthy);
    if (goesOn) this.#schedule(Math.max(0, began + this.#periodMs - this.#options.clock.monotonic()));
  }

  /** @returns undefined when nothing was found out. */
  async #probe(): Promise<boolean | undefined> {
    const { kind, probe, clock, run, unhealthy } = this.#options;
    const timeoutMs = (probe.timeoutSeconds ?? 1) * 1000;
    let failure: unknown;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const timeout = timeoutSignal(clock, timeoutMs, this.#stopped.signal);
      try {
        const { result, output } = await run(probe, timeoutMs, timeout.signal);
        if (this.#stopped.signal.aborted) return undefined;
        if (result === 'warning') unhealthy('ProbeWarning', `${kind} probe warning: ${output}`);
        if (result === 'failure') unhealthy('Unhealthy', `${kind} probe failed: ${output}`);
        return result !== 'failure';
      } catch (error) {
        failure = error;
        if (this.#stopped.signal.aborted) return undefined;
      } finally {
        timeout.dispose();
      }
    }
    unhealthy('Unhealthy', `${kind} probe errored and resulted in unknown state: ${errorText(failure)}`);
    return undefined;
  }

  /** @returns whether it has to go on: a startup probe has said its word, a liveness probe that failed too. */
  #count(healthy: boolean): boolean {
    const { kind, probe, result } = this.#options;
    this.#inARow = this.#last === healthy ? this.#inARow + 1 : 1;
    this.#last = healthy;
    const threshold = healthy ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3);
    if (this.#inARow < threshold) return true;
    result(healthy);
    return !(kind === 'Startup' || (kind === 'Liveness' && !healthy));
  }
}
