import type { ArtifactStore } from '../../../api/kruntimes.io/v1alpha1/artifact-store.ts';
import { ARTIFACT_FINALIZER } from '../../../api/kruntimes.io/v1alpha1/names.ts';
import type { ArtifactReference, Run, RunStatus } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { isStatusError } from '../../../kube/status.ts';
import { formatTime } from '../../../kube/time.ts';
import { orAborted, sleep } from '../../../lib/abort.ts';
import { Backoff } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { Failure } from '../model/transitions.ts';
import { patiently } from '../patience.ts';
import type { CollectedArtifacts } from './collect-artifacts.ts';
import { ArtifactInvalidError, ArtifactStoreError, type ArtifactContent, type ArtifactStoreDriver } from './artifact-store.ts';

export interface StoreArtifactsPorts {
  store: ArtifactStoreDriver;
  /** The store as the Runtime describes it, kept in the Run: the Runtime may be gone when its artifacts are cleaned up. */
  description: ArtifactStore;
  /** What the Run left. */
  collect(run: Run, signal: AbortSignal): Promise<CollectedArtifacts>;
  writeStatus(run: Run, status: RunStatus): Promise<Run>;
  writeFinalizers(run: Run, finalizers: string[]): Promise<Run>;
  read(run: Run): Promise<Run | undefined>;
  clock: Clock;
  log: Log;
}

export type Stored = { run: Run; artifactRefs: RunStatus['artifactRefs'] } | { failure: Failure };

const RETRY = { initialMs: 1000, maxMs: 30_000, jitter: 0.1 };

/**
 * Stores what a Run left. First the Run says where its artifacts will be and that they must be cleaned up, then they are sent: whatever
 * happens in between, nothing is left behind that nobody knows of.
 */
export async function storeArtifacts(run: Run, ports: StoreArtifactsPorts, signal: AbortSignal): Promise<Stored> {
  let collected: CollectedArtifacts;
  try {
    collected = await ports.collect(run, signal);
  } catch (error) {
    if (error instanceof ArtifactInvalidError) return { failure: { reason: 'ArtifactInvalid', message: error.message } };
    throw error;
  }
  try {
    return collected.contents.length === 0
      ? { run, artifactRefs: undefined }
      : await sentAll(await announced(run, ports, signal), collected.contents, ports, signal);
  } finally {
    await collected.release();
  }
}

async function sentAll(run: Run, contents: ArtifactContent[], ports: StoreArtifactsPorts, signal: AbortSignal): Promise<Stored> {
  try {
    const artifactRefs: ArtifactReference[] = [];
    for (const content of contents) artifactRefs.push(await sent(run, content, ports, signal));
    return { run, artifactRefs };
  } catch (error) {
    // Taken from us, the Run may be sending its artifacts from another Pod by now: those are not ours to remove.
    const isOurs = error instanceof ArtifactStoreError || (signal.reason as { why?: string } | undefined)?.why === 'cancelled';
    if (isOurs) await takenBack(run, contents, ports);
    if (error instanceof ArtifactStoreError) return { failure: { reason: 'ArtifactStoreRefused', message: error.message } };
    throw error;
  }
}

/** The store in the status, then the finalizer. */
async function announced(run: Run, ports: StoreArtifactsPorts, signal: AbortSignal): Promise<Run> {
  const { description } = ports;
  const told = await written(run, ports, signal, (now) => ports.writeStatus(now, { ...now.status!, artifactStore: description }));
  return written(told, ports, signal, async (now) => {
    const finalizers = now.metadata.finalizers ?? [];
    return finalizers.includes(ARTIFACT_FINALIZER) ? now : ports.writeFinalizers(now, [...finalizers, ARTIFACT_FINALIZER]);
  });
}

/** Writes on the newest state. A Run that is not ours any more is waited for no further than the watch that tells so. */
async function written(run: Run, ports: StoreArtifactsPorts, signal: AbortSignal, write: (run: Run) => Promise<Run>): Promise<Run> {
  for (let now = run; ;) {
    signal.throwIfAborted();
    try {
      return await patiently(ports.clock, signal, () => write(now));
    } catch (error) {
      if (!isStatusError(error, 'Conflict') && !isStatusError(error, 'NotFound')) throw error;
    }
    const next = await patiently(ports.clock, signal, () => ports.read(run));
    const isOurs = next?.metadata.uid === run.metadata.uid && next?.status?.assignedPodUID === run.status?.assignedPodUID;
    if (next === undefined || !isOurs) await orAborted(new Promise<never>(() => {}), signal);
    else now = next;
  }
}

/** A store that cannot be reached is asked again for as long as the Run may live: its program has done its work. */
async function sent(run: Run, content: ArtifactContent, ports: StoreArtifactsPorts, signal: AbortSignal): Promise<ArtifactReference> {
  const { namespace, uid, name } = run.metadata;
  const origin = { namespace: namespace!, uid: uid!, runName: name!, runtime: run.spec.runtime };
  const backoff = new Backoff(RETRY);
  for (;;) {
    try {
      const location = await ports.store.put(origin, content, signal);
      const { path: _path, ...facts } = content;
      const createdAt = formatTime(new Date(ports.clock.now()));
      return { ...facts, driver: ports.description.driver, location, createdAt };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ArtifactStoreError) throw error;
      ports.log.warn('cannot store an artifact yet', { run: `${namespace}/${name}`, artifact: content.name, error });
      await sleep(ports.clock, backoff.next(), signal);
    }
  }
}

async function takenBack(run: Run, contents: ArtifactContent[], { store, log }: StoreArtifactsPorts): Promise<void> {
  const identity = { namespace: run.metadata.namespace!, uid: run.metadata.uid! };
  const removals = await Promise.allSettled(contents.map(({ name }) => store.remove(identity, name)));
  const failed = removals.find((removal) => removal.status === 'rejected');
  // The finalizer is there: what is left goes with the Run.
  if (failed !== undefined)
    log.warn('cannot take back artifacts', { run: `${identity.namespace}/${run.metadata.name}`, error: failed.reason });
}
