import { PassThrough } from 'node:stream';
import type { Clock } from '../../../../lib/clock.ts';
import {
  type ContainerEnd,
  ContainerError,
  type ContainerSpec,
  type ContainerStats,
  type Driver,
  type DriverContainer,
  type ExecSpec,
} from '../../drivers/driver.ts';
import type { ProgramStreams } from '../../shim/shim.ts';

interface Scripted extends DriverContainer {
  spec: ContainerSpec;
  ended: Promise<ContainerEnd>;
  settle: (end: ContainerEnd) => void;
}

/** A driver whose containers do what a test tells them to, with the promises of a real one. */
export class ScriptedDriver implements Driver {
  readonly name = 'process';
  readonly missingIsolation: readonly string[] = ['network'];
  readonly started: string[] = [];
  readonly removed: string[] = [];
  readonly signals: [string, NodeJS.Signals][] = [];
  readonly executed: [string, string[]][] = [];
  readonly sandboxes = new Set<string>();
  /** What a container does when it is told to end; undefined: it goes on. By name. */
  onSignal = (_name: string, signal: NodeJS.Signals): number | undefined => (signal === 'SIGKILL' ? 137 : 143);
  /** Refuses to start a container. */
  refusal: (spec: ContainerSpec) => ContainerError | undefined = () => undefined;
  exec_ = (_command: string[]): { exitCode: number; output: string } | Promise<{ exitCode: number; output: string }> => ({
    exitCode: 0,
    output: '',
  });
  cannot: string | undefined;
  readonly #clock: Clock;
  readonly #containers = new Map<string, Scripted>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  cannotRun(_reference: string): string | undefined {
    return this.cannot;
  }

  async prepareSandbox({ pod }: { pod: { uid: string } }): Promise<void> {
    this.sandboxes.add(pod.uid);
  }

  async start(spec: ContainerSpec): Promise<{ startedAt: Date }> {
    const refused = this.refusal(spec);
    if (refused) throw refused;
    if (this.#containers.has(spec.id)) throw new Error(`container ${spec.id} was started twice`);
    let settle: (end: ContainerEnd) => void = () => {};
    const ended = new Promise<ContainerEnd>((resolve) => (settle = resolve));
    const { id, pod, name, attempt } = spec;
    const startedAt = new Date(this.#clock.now());
    this.#containers.set(id, { id, pod, name, attempt, startedAt, spec, ended, settle });
    this.started.push(`${name}.${attempt}`);
    return { startedAt };
  }

  /** A container ends by itself. */
  end(id: string, exitCode: number, oomKilled = false): void {
    const container = this.#containers.get(id)!;
    if (container.end) return;
    container.end = { exitCode, oomKilled, startedAt: container.startedAt, finishedAt: new Date(this.#clock.now()) };
    container.settle(container.end);
  }

  specOf(id: string): ContainerSpec {
    return this.#containers.get(id)!.spec;
  }

  async list(): Promise<DriverContainer[]> {
    return [...this.#containers.values()].map(({ id, pod, name, attempt, startedAt, end }) => ({ id, pod, name, attempt, startedAt, end }));
  }

  async ended(id: string): Promise<ContainerEnd> {
    const container = this.#containers.get(id);
    if (!container) throw new Error(`there is no container ${id}`);
    return container.ended;
  }

  async signal(id: string, signal: NodeJS.Signals): Promise<void> {
    const container = this.#containers.get(id);
    if (!container) throw new Error(`there is no container ${id}`);
    this.signals.push([container.name, signal]);
    const exitCode = this.onSignal(container.name, signal);
    if (exitCode !== undefined) this.end(id, exitCode);
  }

  async exec(id: string, { command }: ExecSpec): Promise<ProgramStreams> {
    this.executed.push([this.#containers.get(id)!.name, command]);
    const result = Promise.resolve(this.exec_(command));
    const stdout = new PassThrough();
    const ended = result.then(({ exitCode, output }) => {
      stdout.end(output);
      return { exitCode };
    });
    return { stdout, resize() {}, ended, close() {} };
  }

  attach(): Promise<ProgramStreams> {
    throw new Error('nobody attaches here');
  }

  async stats(): Promise<ContainerStats | undefined> {
    return undefined;
  }

  async remove(id: string): Promise<void> {
    const container = this.#containers.get(id);
    if (!container) return;
    if (!container.end) throw new Error(`container ${id} still runs`);
    this.#containers.delete(id);
    this.removed.push(`${container.name}.${container.attempt}`);
  }

  async removeSandbox(uid: string): Promise<void> {
    this.sandboxes.delete(uid);
  }

  async cleanUp(): Promise<void> {}
}
