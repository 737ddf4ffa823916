import { phaseOf } from '../../api/kruntimes.io/v1alpha1/run-state.ts';
import type { Run } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { longLivedController, timeoutSignal } from '../../lib/abort.ts';
import type { OutputChunk } from '../runs-api.ts';
import { attributeStreams, lastLines, unshownPart } from './attribute-streams.ts';
import { Bell } from './bell.ts';
import { isComplete, lastChunks, type ShownLines } from './completeness.ts';
import { LineQueue } from './line-queue.ts';
import { lineText, linesOfRun, type LogLine } from './log-lines.ts';
import { ObservedRun } from './observed-run.ts';
import type { OutputPorts } from './output-ports.ts';
import { storedOutput, type StoredOutput } from './stored-output.ts';

export interface OutputOptions {
  /** Wait for more until the Run has ended. */
  follow: boolean;
  /** Only the last lines of what is there already. */
  tail?: number;
  signal?: AbortSignal;
  /** Told when only the end of the output was kept. */
  onTruncated?: () => void;
  /** Told of the states of the Run as they are seen. */
  onUpdate?: (run: Run) => void;
}

/** The last lines may still be on their way when the end of the Run is known; after this long without one, none are. */
const LAST_LINES_MS = 400;
/** A log that cannot be opened, or breaks off, is asked for again after this. */
const REOPEN_MS = 500;
/** How long a log may take that is only asked for to tell the streams apart. */
const ATTRIBUTION_MS = 2000;
/** Lines of a Run in the log are no younger than this after its end. */
const AFTER_END_MS = 5000;

/**
 * What a Run writes. While it runs, from runtimed's log, as it comes; once it has ended, what was kept of it. A Run that has not
 * started is waited for; one that moves to another Pod is followed there.
 */
export async function* runOutput(run: Run, ports: OutputPorts, options: OutputOptions): AsyncGenerator<OutputChunk, void, void> {
  const controller = longLivedController(options.signal);
  try {
    yield* new OutputReader(run, ports, options, controller.signal).read();
  } catch (error) {
    // Who does not want more gets no more.
    if (!options.signal?.aborted) throw error;
  } finally {
    controller.abort();
  }
}

class OutputReader {
  readonly #ports: OutputPorts;
  readonly #options: OutputOptions;
  readonly #signal: AbortSignal;
  readonly #bell = new Bell();
  readonly #observed: ObservedRun;
  readonly #uid: string;
  /** The Pod whose lines were shown, how many entries of its log that were, how many lines, and the last one. */
  #shown = nothingOf('');

  constructor(run: Run, ports: OutputPorts, options: OutputOptions, signal: AbortSignal) {
    this.#ports = ports;
    this.#options = options;
    this.#signal = signal;
    this.#observed = new ObservedRun(run);
    this.#uid = run.metadata.uid!;
    signal.addEventListener('abort', () => this.#bell.ring(), { once: true });
    if (options.follow && !this.#observed.isOver) void this.#observed.observe(ports.updates(run, signal), this.#bell, options.onUpdate);
  }

  async *read(): AsyncGenerator<OutputChunk, void, void> {
    const first = this.#observed.run!;
    if (isOnPod(first) && (!this.#options.follow || this.#options.tail !== undefined)) yield* this.#history(first);
    if (!this.#options.follow && !this.#observed.isOver) return;
    while (!this.#signal.aborted) {
      this.#observed.throwIfFailed();
      const { run } = this.#observed;
      if (run === undefined) return;
      if (this.#observed.isOver) return yield* this.#rest(run);
      if (isOnPod(run)) yield* this.#followPod(run);
      else await this.#bell.next();
    }
  }

  /** What is in the log by now. */
  async *#history(run: Run): AsyncGenerator<OutputChunk, void, void> {
    const lines = await this.#logLines(run, this.#signal);
    const { tail = lines?.length ?? 0 } = this.#options;
    for (const [index, line] of (lines ?? []).entries()) {
      const chunk = this.#show(run, line);
      if (index >= lines!.length - tail) yield chunk;
    }
  }

  async *#followPod(run: Run): AsyncGenerator<OutputChunk, void, void> {
    const { clock } = this.#ports;
    const log = await this.#ports.podLog(run, { follow: true, signal: this.#signal });
    if (log === undefined) return this.#pause();
    const queue = new LineQueue(log, this.#uid, this.#bell);
    const wasShown = shownBefore(this.#shown, podOf(run));
    let quietSince = clock.monotonic();
    try {
      while (!this.#signal.aborted) {
        const lines = queue.take();
        for (const line of lines) {
          if (!wasShown(line)) yield this.#show(run, line);
        }
        if (lines.length > 0) quietSince = clock.monotonic();
        if (queue.ended) break;
        if (this.#observed.isOver && (await this.#hasAll(clock.monotonic() - quietSince))) break;
        if (!this.#observed.isOver && podOf(this.#observed.run!) !== podOf(run)) break;
        if (lines.length === 0) await this.#news();
      }
    } finally {
      log.destroy();
    }
    if (queue.ended && !this.#observed.isOver) await this.#pause();
  }

  /** Whether every line has come, of a Run that is over. */
  async #hasAll(quietMs: number): Promise<boolean> {
    const { run } = this.#observed;
    if (run === undefined || quietMs >= LAST_LINES_MS) return true;
    return isComplete(run, await this.#stored(run), this.#shown);
  }

  /** The next news; once the Run is over, not for long. */
  async #news(): Promise<void> {
    const timer = this.#observed.isOver ? this.#ports.clock.setTimer(LAST_LINES_MS, () => this.#bell.ring()) : undefined;
    timer?.hold?.();
    await this.#bell.next();
    timer?.cancel();
    this.#observed.throwIfFailed();
  }

  async #pause(): Promise<void> {
    const timer = this.#ports.clock.setTimer(REOPEN_MS, () => this.#bell.ring());
    timer.hold?.();
    await this.#bell.next();
    timer.cancel();
  }

  /** What was kept of the output and not shown yet. */
  async *#rest(run: Run): AsyncGenerator<OutputChunk, void, void> {
    const isFresh = this.#shown.count === 0 || this.#shown.pod !== podOf(run);
    const stored = await this.#stored(run);
    if (!isFresh) {
      const text = stored === undefined ? '' : this.#unshown(run, stored);
      if (text !== '') yield { stream: 'stdout', text };
      return;
    }
    if (stored?.truncated) this.#options.onTruncated?.();
    yield* lastChunks(await this.#whole(run, stored), this.#options.tail);
  }

  #unshown(run: Run, stored: StoredOutput): string {
    const { lines } = run.status?.log ?? {};
    const missing = lines === undefined ? undefined : lines - this.#shown.entries;
    return missing === undefined ? unshownPart(stored.text, this.#shown, stored.truncated) : lastLines(stored.text, missing);
  }

  async #whole(run: Run, stored: StoredOutput | undefined): Promise<OutputChunk[]> {
    // A runtimed that says how the program exited also keeps what it wrote.
    const wroteNothing = stored === undefined && run.status?.exitCode !== undefined;
    if (wroteNothing) return [];
    const whole: OutputChunk[] = stored === undefined ? [] : [{ stream: 'stdout', text: stored.text }];
    if (run.status?.assignedPod === undefined || stored?.truncated) return whole;
    const limited = timeoutSignal(this.#ports.clock, ATTRIBUTION_MS, this.#signal);
    try {
      const lines = (await this.#logLines(run, limited.signal)) ?? [];
      if (stored === undefined) return lines.map(chunkOf);
      return attributeStreams(stored.text, lines) ?? whole;
    } catch (error) {
      if (this.#signal.aborted) throw error;
      return whole;
    } finally {
      limited.dispose();
    }
  }

  async #logLines(run: Run, signal: AbortSignal): Promise<LogLine[] | undefined> {
    const log = await this.#ports.podLog(run, { follow: false, signal });
    if (log === undefined) return undefined;
    const end = run.status?.completionTime === undefined ? Infinity : Date.parse(run.status.completionTime) + AFTER_END_MS;
    const lines: LogLine[] = [];
    for await (const line of linesOfRun(log, this.#uid)) {
      if (line.time !== undefined && line.time > end) break;
      lines.push(line);
    }
    return lines;
  }

  #stored(run: Run): Promise<StoredOutput | undefined> {
    return storedOutput(run, (name) => this.#ports.configMapData(name));
  }

  #show(run: Run, line: LogLine): OutputChunk {
    const pod = podOf(run);
    // Another Pod is another attempt, and what is kept is of the last one.
    if (this.#shown.pod !== pod) this.#shown = nothingOf(pod);
    const shown = this.#shown;
    shown.entries++;
    shown.atTime = line.time === shown.time ? shown.atTime + 1 : 1;
    shown.time = line.time;
    if (shown.isOpen) shown.last += line.message;
    else if (line.message !== '') {
      shown.count++;
      shown.last = line.message;
    }
    shown.isOpen = line.partial === true;
    return chunkOf(line);
  }
}

interface Shown extends ShownLines {
  pod: string;
  /** The last line is not at its end. */
  isOpen: boolean;
  /** When the last entry was written, and how many so far at that time. */
  time: number | undefined;
  atTime: number;
}

function nothingOf(pod: string): Shown {
  return { pod, entries: 0, count: 0, last: '', isOpen: false, time: undefined, atTime: 0 };
}

/**
 * Tells which entries of a log that is read again were shown. By their times, since the log may have lost its beginning meanwhile; by
 * their number where there are no times.
 */
function shownBefore(shown: Shown, pod: string): (line: LogLine) => boolean {
  if (shown.pod !== pod) return () => false;
  const { time, entries } = shown;
  let { atTime } = shown;
  let unseen = time === undefined ? entries : 0;
  return (line) => {
    if (time === undefined || line.time === undefined) return unseen-- > 0;
    return line.time < time || (line.time === time && atTime-- > 0);
  };
}

function chunkOf(line: LogLine): OutputChunk {
  return { stream: line.stream, text: lineText(line) };
}

function isOnPod(run: Run): boolean {
  return phaseOf(run) === 'Running' && run.status?.assignedPod !== undefined;
}

function podOf(run: Run): string {
  return run.status?.assignedPodUID ?? run.status?.assignedPod ?? '';
}
