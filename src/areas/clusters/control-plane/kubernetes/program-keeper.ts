import { Backoff } from '../../../../lib/backoff.ts';
import type { Clock, Timer } from '../../../../lib/clock.ts';
import { sleep } from '../../../../lib/abort.ts';
import { titleOf, type ProgramName, type ProgramSpec } from './model/program-plan.ts';

/** A program that was started. */
export interface RunningProgram {
  /** Its last words. */
  ended: Promise<string>;
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
}

export interface KeeperPorts {
  start(spec: ProgramSpec): RunningProgram;
  /** Whether somebody listens there. */
  hasSocket(path: string): boolean;
  /** Whether the API server says that it is ready. */
  isReady(): Promise<boolean>;
  /** What is wrong; undefined: nothing any more. */
  tell(trouble: KeeperTrouble | undefined): void;
  clock: Clock;
}

export type KeeperTrouble =
  | { diskFull: true }
  /** `others`: those that do the same go on. */
  | { message: string; others: boolean };

/** Something in the way of a start, with a code that says what. */
export class KeeperError extends Error {
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

interface Kept {
  spec: ProgramSpec;
  running?: RunningProgram;
  backoff: Backoff;
  since: number;
  restart?: Timer;
}

const RESTART = { initialMs: 100, maxMs: 30_000, jitter: 0.2 };
/** One that lived so long is started again at once. */
const RAN_WELL_MS = 30_000;
const LOOK_EVERY_MS = 25;
const START_MS = 110_000;
const START_TRIES = 4;
/** After that it may try for itself. */
const SOCKET_MS = 5000;
const SOCKET_LOOK_MS = 5;
/** Long enough to see whether one that was started again stays. */
const SETTLED_MS = 500;
/** API servers wait for their clients up to a minute, and have nothing to lose. */
const GRACE_MS: Partial<Record<ProgramName, number>> = { 'kube-apiserver': 500, etcd: 2500 };

/** Keeps the programs of one control plane running: starts them in order, and again when they end. */
export class ProgramKeeper {
  readonly #ports: KeeperPorts;
  readonly #programs: Kept[];
  #stopping = false;
  #settling = false;
  #failStart: ((error: KeeperError) => void) | undefined;

  constructor(programs: readonly ProgramSpec[], ports: KeeperPorts) {
    this.#ports = ports;
    this.#programs = programs.map((spec) => ({ spec, backoff: new Backoff(RESTART), since: 0 }));
  }

  /** Resolves when the API server is ready and everything was started. @throws KeeperError */
  async start(): Promise<void> {
    const failed = new Promise<never>((_, reject) => (this.#failStart = reject));
    failed.catch(() => {});
    const first = this.#programs.filter(({ spec }) => !spec.afterReady);
    for (const kept of first) if (kept.spec.afterSocket === undefined) this.#launch(kept);
    for (const kept of first) if (kept.spec.afterSocket !== undefined) await this.#launchAfter(kept, kept.spec.afterSocket);
    try {
      await Promise.race([this.#untilReady(START_MS), failed]);
    } finally {
      this.#failStart = undefined;
    }
    for (const kept of this.#programs) if (kept.spec.afterReady) this.#launch(kept);
  }

  /** Those that are asked last go first: nobody writes any more when the store goes. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const others = this.#programs.filter(({ spec }) => !(spec.name in GRACE_MS));
    await Promise.all(others.map((kept) => this.#end(kept)));
    for (const name of Object.keys(GRACE_MS)) {
      await Promise.all(this.#programs.filter(({ spec }) => spec.name === name).map((kept) => this.#end(kept)));
    }
  }

  /** Of one that hangs; it is started again. */
  kill(name: ProgramName, replica: number): void {
    this.#programs.find(({ spec }) => spec.name === name && spec.replica === replica)?.running?.signal('SIGKILL');
  }

  /** New certificates are there. */
  async keysChanged(): Promise<void> {
    for (const kept of this.#programs.filter(({ spec }) => spec.readsKeysOnce)) {
      const before = kept.running;
      kept.running = undefined;
      before?.signal('SIGKILL');
      await before?.ended;
      if (!this.#stopping) this.#launch(kept);
    }
  }

  async #launchAfter(kept: Kept, socket: string): Promise<void> {
    const { clock, hasSocket } = this.#ports;
    const deadline = clock.monotonic() + SOCKET_MS;
    while (!hasSocket(socket) && clock.monotonic() < deadline) await sleep(clock, SOCKET_LOOK_MS);
    if (!this.#stopping) this.#launch(kept);
  }

  #launch(kept: Kept): void {
    kept.restart?.cancel();
    kept.restart = undefined;
    kept.since = this.#ports.clock.monotonic();
    const running = this.#ports.start(kept.spec);
    kept.running = running;
    void running.ended.then((words) => {
      if (kept.running === running) this.#ended(kept, words);
    });
  }

  #ended(kept: Kept, words: string): void {
    const { clock, tell } = this.#ports;
    kept.running = undefined;
    if (this.#stopping) return;
    const code = codeOf(words);
    const title = titleOf(kept.spec);
    const others = this.#goesOnWithout(kept);
    if (code !== undefined || (kept.backoff.failures >= START_TRIES && !others)) {
      this.#failStart?.(new KeeperError(`${title} ended: ${lastLine(words)}`, code));
    }
    const ranWell = clock.monotonic() - kept.since > RAN_WELL_MS;
    if (ranWell) kept.backoff.reset();
    if (this.#failStart === undefined) {
      tell(code === 'ENOSPC' ? { diskFull: true } : { message: `${title} ended and is started again: ${lastLine(words)}`, others });
    }
    kept.restart = clock.setTimer(ranWell ? 0 : kept.backoff.next(), () => {
      this.#launch(kept);
      if (this.#failStart === undefined) void this.#settle();
    });
    kept.restart.hold?.();
  }

  /** Of a store most members have to be there, of others one. */
  #goesOnWithout({ spec: { name } }: Kept): boolean {
    const same = this.#programs.filter(({ spec }) => spec.name === name);
    const running = same.filter((each) => each.running !== undefined).length;
    return name === 'etcd' ? running > same.length / 2 : running > 0;
  }

  /** Tells that all is well again, once it is. */
  async #settle(): Promise<void> {
    if (this.#settling) return;
    this.#settling = true;
    const { clock, isReady, tell } = this.#ports;
    const isWell = async () => this.#programs.every(({ running }) => running !== undefined) && (await isReady());
    while (!this.#stopping) {
      await sleep(clock, SETTLED_MS);
      if (!(await isWell())) continue;
      tell(undefined);
      break;
    }
    this.#settling = false;
  }

  async #untilReady(withinMs: number): Promise<void> {
    const { clock, isReady } = this.#ports;
    const deadline = clock.monotonic() + withinMs;
    while (!(await isReady())) {
      if (this.#stopping || clock.monotonic() > deadline) throw new KeeperError(`kube-apiserver was not ready in ${withinMs / 1000} s`);
      await sleep(clock, LOOK_EVERY_MS);
    }
  }

  async #end(kept: Kept): Promise<void> {
    const { clock } = this.#ports;
    kept.restart?.cancel();
    const { running } = kept;
    if (running === undefined) return;
    const graceMs = GRACE_MS[kept.spec.name];
    running.signal(graceMs === undefined ? 'SIGKILL' : 'SIGTERM');
    const impatience = graceMs === undefined ? undefined : clock.setTimer(graceMs, () => running.signal('SIGKILL'));
    impatience?.hold?.();
    await running.ended;
    impatience?.cancel();
  }
}

function codeOf(words: string): string | undefined {
  if (/address already in use/i.test(words)) return 'EADDRINUSE';
  if (/no space left on device/i.test(words)) return 'ENOSPC';
  return undefined;
}

function lastLine(words: string): string {
  return (words.trim().split('\n').at(-1) ?? '').slice(0, 300);
}
