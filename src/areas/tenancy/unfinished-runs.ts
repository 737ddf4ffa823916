import { RunKind, type Run } from '../../api/kruntimes.io/v1alpha1/run.ts';
import { UNFINISHED } from '../../api/kruntimes.io/v1alpha1/run-state.ts';
import type { Informer } from '../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../runtime/informer/shared-informers.ts';

/** The Runs that have not ended, of each only what is counted. One that ends is reported as deleted. */
export function unfinishedRuns(informers: SharedInformers): Informer<Run> {
  return informers.get(RunKind, { fieldSelector: UNFINISHED, transform: countedPart });
}

function countedPart({ apiVersion, kind, metadata, status }: Run): Run {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const counted = { name, namespace, uid, resourceVersion, creationTimestamp };
  return { apiVersion, kind, metadata: counted, status: { phase: status?.phase, startTime: status?.startTime } } as Run;
}
