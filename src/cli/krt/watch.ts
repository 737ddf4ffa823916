import { isTerminal, phaseOf } from '../../api/kruntimes.io/v1alpha1/run-state.ts';
import { RUN_PHASES, RunKind, type Run } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { attempting } from '../terminal/explain.ts';
import { byAge, listRuns, matches, phaseNamed, type RunFilter } from './find-runs.ts';
import { LiveScreen } from '../terminal/live-screen.ts';
import { runColumns } from './run-columns.ts';
import { untilInterrupted, type Session } from '../terminal/session.ts';
import { columnWidths, formatTable, tableOf } from '../terminal/table.ts';

export interface WatchFlags extends RunFilter {
  /** Those that ended before, too. */
  finishedToo?: boolean;
}

/** A table that follows the Runs; where nobody looks at it, a line for every change. Until Ctrl-C. */
export async function watch(session: Session, names: string[], flags: WatchFlags): Promise<number> {
  const where = { server: session.cluster.server, namespace: session.namespace };
  await untilInterrupted(session, (signal) =>
    attempting('watch Runs', where, async () => {
      const view = session.isTerminal ? new RunTable(session) : new RunLines(session);
      try {
        await followRuns(session, names, flags, view, signal);
      } finally {
        view.close();
      }
    }),
  );
  return 0;
}

interface RunView {
  show(run: Run): void;
  forget(run: Run): void;
  close(): void;
}

async function followRuns(session: Session, names: string[], flags: WatchFlags, view: RunView, signal: AbortSignal): Promise<void> {
  const phase = phaseNamed(flags.phase);
  const { finishedToo, ...filter } = flags;
  const isMeant = (run: Run) => (names.length === 0 || names.includes(run.metadata.name!)) && matches(run, filter, phase);
  const resource = session.cluster.client.resource(RunKind, flags.allNamespaces ? undefined : session.namespace);
  while (!signal.aborted) {
    const unfinished = names.length === 0 && phase === undefined && !finishedToo;
    const { runs, resourceVersion } = await listRuns(session, { ...filter, unfinished });
    for (const run of runs) if (isMeant(run)) view.show(run);
    for await (const update of resource.watch({ resourceVersion, labelSelector: flags.selector, signal })) {
      if (!('object' in update)) continue;
      if (update.type !== 'DELETED' && isMeant(update.object)) view.show(update.object);
      else view.forget(update.object);
    }
  }
}

const keyOf = ({ metadata }: Run) => `${metadata.namespace}/${metadata.name}`;

/** As `kubectl get -w` prints: every change is a line. */
class RunLines implements RunView {
  readonly #session: Session;
  #widths: number[] | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  show(run: Run): void {
    const { header, rows } = tableOf(runColumns(new Date(this.#session.clock.now())), [run], false);
    const isFirst = this.#widths === undefined;
    this.#widths = columnWidths([this.#widths?.map((width) => ' '.repeat(width)) ?? header, ...rows]);
    const lines = formatTable(header, rows, { widths: this.#widths });
    this.#session.out(`${(isFirst ? lines : lines.slice(1)).join('\n')}\n`);
  }

  forget(): void {}
  close(): void {}
}

/** The newest state of every Run, drawn over the one before. */
class RunTable implements RunView {
  readonly #session: Session;
  readonly #runs = new Map<string, Run>();
  readonly #screen: LiveScreen;

  constructor(session: Session) {
    this.#session = session;
    this.#screen = new LiveScreen(session, () => this.#lines());
  }

  show(run: Run): void {
    this.#runs.set(keyOf(run), run);
    this.#screen.changed();
  }

  forget(run: Run): void {
    this.#runs.delete(keyOf(run));
    this.#screen.changed();
  }

  close(): void {
    this.#screen.close();
  }

  #lines(): string[] {
    const all = [...this.#runs.values()].sort(byAge);
    const isOver = (run: Run) => isTerminal(phaseOf(run));
    // What goes on first, then what ended last.
    const ordered = [...all.filter((run) => !isOver(run)), ...all.filter(isOver).reverse()];
    const room = Math.max(1, this.#session.size().rows - 4);
    const { header, rows } = tableOf(runColumns(new Date(this.#session.clock.now())), ordered.slice(0, room), false);
    const lines = formatTable(header, rows, { isColoured: this.#session.isColoured });
    const more = ordered.length > room ? [`... and ${ordered.length - room} more`] : [];
    return [summary(all), ...(all.length === 0 ? [] : lines), ...more];
  }
}

function summary(runs: readonly Run[]): string {
  const counts = RUN_PHASES.map((phase) => [phase, runs.filter((run) => phaseOf(run) === phase).length] as const);
  const parts = counts.filter(([, count]) => count > 0).map(([phase, count]) => `${count} ${phase}`);
  return `${parts.length === 0 ? 'No Runs yet' : parts.join(', ')} (Ctrl-C ends)`;
}
