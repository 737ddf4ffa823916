import { API_VERSION } from '../../../../../api/kruntimes.io/v1alpha1/group.ts';
import { RunKind, type Run, type RunSpec } from '../../../../../api/kruntimes.io/v1alpha1/run.ts';
import { isTerminal, phaseOf } from '../../../../../api/kruntimes.io/v1alpha1/run-state.ts';
import { parseTime } from '../../../../../kube/time.ts';

/** Runs that have ended and are to be deleted some day. Whoever keeps them all pays for no others. */
export const FINISHED_WITH_TTL = [
  ...['', 'Pending', 'Scheduled', 'Running', 'Ready'].map((phase) => `status.phase!=${phase}`),
  ...['', '0'].map((ttl) => `spec.ttlSecondsAfterFinished!=${ttl}`),
].join(',');

/** What is kept of a finished Run: there may be very many, so that what many have in common is shared. */
export function finishedRun(run: Run): Run {
  const { name, namespace, resourceVersion, deletionTimestamp } = run.metadata;
  return {
    apiVersion: API_VERSION,
    kind: RunKind.kind,
    // Without the uid: no other Run ever has the same version.
    metadata: { name, namespace: shared(namespace!), resourceVersion, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
    spec: specOf(run.spec.ttlSecondsAfterFinished ?? 0),
    status: { phase: phaseOf(run), completionTime: completionOf(run) },
  };
}

/** Of names and times to live there are few. */
const MOST_SHARED = 10_000;
const texts = new Map<string, string>();
const specs = new Map<number, RunSpec>();

function shared(text: string): string {
  return texts.get(text) ?? remembered(texts, text, text);
}

function specOf(ttlSecondsAfterFinished: number): RunSpec {
  return (
    specs.get(ttlSecondsAfterFinished) ?? remembered(specs, ttlSecondsAfterFinished, { runtime: '', mode: {}, ttlSecondsAfterFinished })
  );
}

function remembered<K, V>(known: Map<K, V>, key: K, value: V): V {
  if (known.size < MOST_SHARED) known.set(key, value);
  return value;
}

/** Some write a Failed Run without the time: then it is that of the last thing that was written. */
function completionOf({ metadata, status }: Run): string | undefined {
  if (status?.completionTime !== undefined) return status.completionTime;
  const written = [...(status?.conditions ?? []).map((condition) => condition.lastTransitionTime), ...timesOf(metadata.managedFields)];
  return written.toSorted().at(-1) ?? metadata.creationTimestamp;
}

function timesOf(managedFields: { time?: string }[] | undefined): string[] {
  return (managedFields ?? []).flatMap(({ time }) => (time === undefined ? [] : [time]));
}

/** When the Run is to be deleted, in milliseconds since the epoch; undefined: never. */
export function expiryOf({ metadata, spec, status }: Run): number | undefined {
  const ttl = spec.ttlSecondsAfterFinished ?? 0;
  if (ttl === 0 || status === undefined || !isTerminal(status.phase) || metadata.deletionTimestamp !== undefined) return undefined;
  const completed = status.completionTime === undefined ? undefined : parseTime(status.completionTime);
  return completed === undefined ? undefined : completed + ttl * 1000;
}
