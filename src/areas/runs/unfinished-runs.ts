import { UNFINISHED_HERE } from '../../api/kruntimes.io/v1alpha1/run-state.ts';
import { RunKind, type Run } from '../../api/kruntimes.io/v1alpha1/run.ts';
import type { Informer } from '../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../runtime/informer/shared-informers.ts';

/** The Runs that are still to end here, one copy for all controllers: there may be very many. */
export function unfinishedRuns(informers: SharedInformers): Informer<Run> {
  return informers.get(RunKind, { fieldSelector: UNFINISHED_HERE, transform: withoutManagers });
}

/** Who wrote which field is half of a Run that waits, and nobody here asks: statuses are written as differences. */
export function withoutManagers(run: Run): Run {
  const { managedFields: _, ...metadata } = run.metadata;
  return { ...run, metadata };
}
