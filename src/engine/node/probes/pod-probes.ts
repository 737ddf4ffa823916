import type { Container, Probe } from '../../../kube/generated/core-v1.ts';
import type { Random } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Driver } from '../drivers/driver.ts';
import type { ProbeFindings } from '../pods/model/pod-actions.ts';
import { podText, type PodObject } from '../pods/model/pod-object.ts';
import type { PodEvents } from '../pods/pod-events.ts';
import { commandResult } from './exec-command.ts';
import { ProbeLoop, type ProbeKind } from './probe-loop.ts';
import { portOf, type ProbeOutcome } from './probe-outcome.ts';

export interface ProbeTarget {
  pod: PodObject;
  container: Container;
  runId: string;
  startedAt: number;
  podIp: string;
  /** What was known of a container that an agent before this one started. */
  before?: { started: boolean; ready: boolean };
  /** A probe has found something new. */
  changed(): void;
}

/** Starts and stops the probes of containers. */
export interface PodProbes {
  /** Does nothing when they are under way already. */
  start(target: ProbeTarget): void;
  stop(runId: string): void;
}

interface Probed {
  startup?: boolean;
  readiness?: boolean;
  liveness?: boolean;
  loops: ProbeLoop[];
}

export interface ProbesOptions {
  clock: Clock;
  random: Random;
  events: PodEvents;
  driver: Pick<Driver, 'exec'>;
}

/** All probes of this node. Others than startup probes begin when the container has started. */
export class Probes implements PodProbes, ProbeFindings {
  #options: ProbesOptions;
  #probed = new Map<string, Probed>();

  constructor(options: ProbesOptions) {
    this.#options = options;
  }

  startup(runId: string): boolean | undefined {
    return this.#probed.get(runId)?.startup;
  }

  readiness(runId: string): boolean | undefined {
    return this.#probed.get(runId)?.readiness;
  }

  liveness(runId: string): boolean | undefined {
    return this.#probed.get(runId)?.liveness;
  }

  start(target: ProbeTarget): void {
    if (this.#probed.has(target.runId)) return;
    const { container, before } = target;
    const probed: Probed = { loops: [] };
    this.#probed.set(target.runId, probed);
    if (before?.ready && container.readinessProbe) probed.readiness = true;
    if (container.startupProbe && before?.started) probed.startup = true;
    if (container.startupProbe && !before?.started) {
      this.#begin(target, probed, 'Startup', container.startupProbe, (healthy) => {
        probed.startup = healthy;
        if (healthy) this.#afterStart(target, probed);
      });
    } else this.#afterStart(target, probed);
  }

  stop(runId: string): void {
    const probed = this.#probed.get(runId);
    if (!probed) return;
    this.#probed.delete(runId);
    for (const loop of probed.loops) loop.stop();
  }

  #afterStart(target: ProbeTarget, probed: Probed): void {
    const { readinessProbe, livenessProbe } = target.container;
    if (readinessProbe) this.#begin(target, probed, 'Readiness', readinessProbe, (healthy) => (probed.readiness = healthy));
    if (livenessProbe) this.#begin(target, probed, 'Liveness', livenessProbe, (healthy) => (probed.liveness = healthy));
  }

  #begin(target: ProbeTarget, probed: Probed, kind: ProbeKind, probe: Probe, set: (healthy: boolean) => void): void {
    const { clock, random, events } = this.#options;
    const { pod, container, startedAt, before } = target;
    let known = kind === 'Readiness' ? probed.readiness : undefined;
    const loop = new ProbeLoop({
      kind,
      probe,
      clock,
      random,
      startedAt,
      adopted: before !== undefined,
      run: (wanted, timeoutMs, signal) => this.#run(target, wanted, timeoutMs, signal),
      result: (healthy) => {
        set(healthy);
        if (healthy === known) return;
        known = healthy;
        target.changed();
      },
      unhealthy: (reason, message) => events.record(pod, 'Warning', reason, message, container.name),
    });
    probed.loops.push(loop);
    loop.start();
  }

  async #run({ pod, container, runId, podIp }: ProbeTarget, probe: Probe, timeoutMs: number, signal: AbortSignal): Promise<ProbeOutcome> {
    if (probe.httpGet) return (await import('./http-probe.ts')).probeHttp(probe.httpGet, container, podIp, signal);
    if (probe.tcpSocket) {
      const { probeTcp } = await import('./tcp-probe.ts');
      return probeTcp(probe.tcpSocket.host || podIp, portOf(probe.tcpSocket.port, container), signal);
    }
    if (probe.grpc) {
      const { probeGrpc } = await import('./grpc-probe.ts');
      return probeGrpc(podIp, probe.grpc.port, probe.grpc.service ?? '', timeoutMs, signal);
    }
    if (probe.exec) return this.#exec(runId, probe.exec.command ?? [], timeoutMs, signal);
    throw new Error(`missing probe handler for ${podText(pod)}:${container.name}`);
  }

  async #exec(runId: string, command: string[], timeoutMs: number, signal: AbortSignal): Promise<ProbeOutcome> {
    const streams = await this.#options.driver.exec(runId, { command, terminal: false, stdin: false });
    try {
      const { exitCode, output } = await commandResult(streams, signal);
      return { result: exitCode === 0 ? 'success' : 'failure', output };
    } catch (error) {
      if (!signal.aborted) throw error;
      return { result: 'failure', output: `command timed out: ${JSON.stringify(command.join(' '))} timed out after ${timeoutMs / 1000}s` };
    }
  }
}
