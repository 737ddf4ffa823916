import { orAborted } from '../../../../lib/abort.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { processTable, type ProcessIdentity } from '../../../../lib/process-table.ts';
import { ControlPlaneError, type RunningControlPlane } from '../control-planes.ts';
import { watchControl, type ControlEvent, type ControlWatch } from './control-socket.ts';
import { launch, type GoMessage, type Launched, type LaunchOptions } from './launch.ts';

type Trouble = NonNullable<RunningControlPlane['trouble']>;

const DISK_FULL = 'its disk is full: reads work, writes do not; free some space or raise its limit';
const STORE_FULL =
  'its store has reached its limit: reads and deletions work, other writes do not; delete what is not needed, and it opens by itself, or ask the operator to raise controlPlaneLimits.storage of the ClusterPolicy, which holds from the next start';
const START_MS = 120_000;
const ADOPT_MS = 5000;

/** The process of one control plane, whether we started it or found it. */
export class ServerProcess {
  readonly #folder: string;
  readonly #clock: Clock;
  #launched: Launched | undefined;
  #watch: ControlWatch | undefined;
  #identity: ProcessIdentity | undefined;
  /** The last word about each thing. */
  readonly #news = new Map<ControlEvent['type'], ControlEvent>();
  #onEnd: ((afterMs: number) => void) | undefined;
  #onTrouble: (() => void) | undefined;

  constructor(folder: string, clock: Clock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  /** It answers, as far as we know. */
  get isLive(): boolean {
    return this.#watch !== undefined;
  }

  get identity(): ProcessIdentity | undefined {
    return this.#identity;
  }

  get trouble(): Trouble | undefined {
    return troubleOf(this.#last('disk'), this.#last('store'), this.#last('programs'));
  }

  /** Of one with several API servers: how many of them are ready, and what became of others. */
  get replicas(): { ready: number; note?: string } | undefined {
    const replicas = this.#last('replicas');
    return replicas && { ready: replicas.ready, note: this.#last('programs')?.message };
  }

  /** Takes over one that is there from before. @returns false when there is none that can be used */
  async adopt(identity: ProcessIdentity | undefined, edition: string): Promise<boolean> {
    if (identity === undefined || !processTable.isAlive(identity)) return false;
    try {
      await this.#follow();
    } catch {
      return false;
    }
    const { pid, edition: itsEdition } = this.#watch!.hello;
    if (pid !== identity.pid || itsEdition !== edition) {
      this.letGo();
      return false;
    }
    this.#identity = identity;
    return true;
  }

  /** Starts one, which loads and then waits to be told to go on, or takes one that did so before. */
  async load(options: Omit<LaunchOptions, 'folder' | 'stdin'>, spare: Launched | undefined): Promise<void> {
    this.#launched = spare ?? (await launch({ ...options, folder: this.#folder, stdin: 'ignore' }));
    this.#identity = this.#launched.identity;
  }

  /** Its keys are there: it may begin. Resolves when it serves. */
  async answer(word: GoMessage, onEnd: (afterMs: number) => void, onTrouble: () => void, signal?: AbortSignal): Promise<void> {
    this.#onEnd = onEnd;
    this.#onTrouble = onTrouble;
    const launched = this.#launched;
    if (launched === undefined) return;
    this.#launched = undefined;
    launched.go(word);
    try {
      const said = await orAborted(launched.next(START_MS), signal);
      if (said.type === 'failed') throw startError(said);
      await this.#follow();
    } finally {
      launched.release();
    }
  }

  /** Forgets it; it runs on. */
  letGo(): void {
    this.#launched?.release();
    this.#launched = undefined;
    this.#watch?.close();
    this.#watch = undefined;
    this.#news.clear();
  }

  #last<T extends ControlEvent['type']>(type: T): Extract<ControlEvent, { type: T }> | undefined {
    return this.#news.get(type) as Extract<ControlEvent, { type: T }> | undefined;
  }

  async #follow(): Promise<void> {
    const since = this.#clock.monotonic();
    this.#watch = await watchControl(
      this.#folder,
      {
        onEvent: (event) => {
          if (event.type === 'hello') return;
          this.#news.set(event.type, event);
          this.#onTrouble?.();
        },
        onEnd: () => {
          this.#watch = undefined;
          this.#news.clear();
          this.#onEnd?.(this.#clock.monotonic() - since);
        },
      },
      ADOPT_MS,
    );
  }
}

type Word<T extends ControlEvent['type']> = Extract<ControlEvent, { type: T }> | undefined;

function troubleOf(disk: Word<'disk'>, store: Word<'store'>, programs: Word<'programs'>): Trouble | undefined {
  if (disk?.full) return { reason: 'DiskFull', message: DISK_FULL };
  if (store?.full) return { reason: 'StoreFull', message: STORE_FULL };
  if (programs?.message === undefined || programs.others === true) return undefined;
  return { reason: 'NotAnswering', message: programs.message };
}

function startError({ code, message }: { code?: string; message: string }): Error {
  if (code === 'EADDRINUSE')
    return new ControlPlaneError('PortTaken', 'the port of its endpoint is taken by another program; stop that one');
  if (code === 'ENOSPC' || code === 'DiskFull') return new ControlPlaneError('DiskFull', 'its disk is full; free some space');
  return new ControlPlaneError('StartFailed', message);
}
