import { RUN_PHASES, RunKind, type Run, type RunPhase } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { isTerminal, phaseOf } from '../../api/kruntimes.io/v1alpha1/run-state.ts';
import { isStatusError } from '../../kube/status.ts';
import type { Session } from '../terminal/session.ts';

export interface RunFilter {
  allNamespaces?: boolean;
  runtime?: string;
  phase?: string;
  selector?: string;
  /** Only those that have not ended. */
  unfinished?: boolean;
  /** Only those that have. */
  finished?: boolean;
}

/** The Runs that are meant, oldest first. */
export async function findRuns(session: Session, filter: RunFilter): Promise<Run[]> {
  return (await listRuns(session, filter)).runs;
}

/** The same, and the version from which to watch on. */
export async function listRuns(session: Session, filter: RunFilter): Promise<{ runs: Run[]; resourceVersion: string | undefined }> {
  const phase = phaseNamed(filter.phase);
  const resource = session.cluster.client.resource(RunKind, filter.allNamespaces ? undefined : session.namespace);
  const list = (fieldSelector: string | undefined) => resource.listAll({ fieldSelector, labelSelector: filter.selector });
  const fields = fieldSelectorOf(filter, phase);
  const found = await list(fields).catch((error: unknown) => {
    // The CRD of the original cannot be selected by these fields.
    if (fields === undefined || !isStatusError(error, 'BadRequest')) throw error;
    return list(undefined);
  });
  const runs = found.items.filter((run) => matches(run, filter, phase)).sort(byAge);
  return { runs, resourceVersion: found.metadata.resourceVersion };
}

export function matches(run: Run, filter: RunFilter, phase: RunPhase | undefined): boolean {
  const isOver = isTerminal(phaseOf(run));
  if (filter.runtime !== undefined && run.spec.runtime !== filter.runtime) return false;
  if (phase !== undefined && phaseOf(run) !== phase) return false;
  return !(filter.unfinished && isOver) && !(filter.finished && !isOver);
}

export function phaseNamed(text: string | undefined): RunPhase | undefined {
  if (text === undefined) return undefined;
  const phase = RUN_PHASES.find((name) => name.toLowerCase() === text.toLowerCase());
  if (phase === undefined) throw new Error(`Cannot find Runs in phase "${text}": the phases are ${RUN_PHASES.join(', ')}`);
  return phase;
}

function fieldSelectorOf(filter: RunFilter, phase: RunPhase | undefined): string | undefined {
  const terms: string[] = [];
  if (filter.runtime !== undefined) terms.push(`spec.runtime=${filter.runtime}`);
  // A Run that nobody has looked at yet has no phase, and is Pending.
  if (phase !== undefined && phase !== 'Pending') terms.push(`status.phase=${phase}`);
  if (filter.unfinished || phase === 'Pending') {
    for (const name of RUN_PHASES) if (isTerminal(name)) terms.push(`status.phase!=${name}`);
  }
  return terms.length === 0 ? undefined : terms.join(',');
}

export function byAge(a: Run, b: Run): number {
  const [first, second] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  return first < second ? -1 : first > second ? 1 : (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}
