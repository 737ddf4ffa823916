import { attemptOf, phaseOf } from '../../api/kruntimes.io/v1alpha1/run-state.ts';
import type { Run, RunPhase } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { ageOf, formatAge } from '../../kube/age.ts';
import type { Cell, Colour, Column } from '../terminal/table.ts';

const PHASE_COLOURS: Partial<Record<RunPhase, Colour>> = {
  Pending: 'yellow',
  Scheduled: 'cyan',
  Running: 'cyan',
  Succeeded: 'green',
  Failed: 'red',
  Timeout: 'red',
  Cancelled: 'grey',
};

export function phaseCell(run: Run): Cell {
  const phase = phaseOf(run);
  return { text: phase, colour: PHASE_COLOURS[phase] };
}

export function runColumns(now: Date): Column<Run>[] {
  return [
    { header: 'NAME', cell: (run) => run.metadata.name ?? '' },
    { header: 'NAMESPACE', cell: (run) => run.metadata.namespace ?? '' },
    { header: 'RUNTIME', cell: (run) => run.spec.runtime },
    { header: 'PHASE', cell: phaseCell },
    { header: 'ASSIGNED POD', cell: (run) => run.status?.assignedPod ?? '<none>' },
    { header: 'AGE', cell: (run) => ageOf(run.metadata.creationTimestamp, now) },
    { header: 'EXIT', wide: true, cell: (run) => run.status?.exitCode?.toString() ?? '' },
    { header: 'ATTEMPT', wide: true, cell: (run) => String(attemptOf(run)) },
    { header: 'DURATION', wide: true, cell: (run) => durationOf(run, now) ?? '' },
    { header: 'MESSAGE', wide: true, cell: (run) => run.status?.message ?? '' },
  ];
}

/** How long the Run has been running, or ran. */
export function durationOf({ status }: Run, now: Date): string | undefined {
  if (status?.startTime === undefined) return undefined;
  const end = status.completionTime === undefined ? now.getTime() : Date.parse(status.completionTime);
  return formatAge(Math.max(0, end - Date.parse(status.startTime)));
}
