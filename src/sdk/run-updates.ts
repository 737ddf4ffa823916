import { RunKind, type Run } from '../api/kruntimes.io/v1alpha1/run.ts';
import { isTerminal, phaseOf } from '../api/kruntimes.io/v1alpha1/run-state.ts';
import type { Client } from '../client/client.ts';
import { isStatusError } from '../kube/status.ts';

export interface RunName {
  namespace: string;
  name: string;
}

/** The Run was removed while somebody waited for it. */
export class RunGoneError extends Error {
  constructor({ namespace, name }: RunName) {
    super(`Cannot wait for Run "${name}" any longer: it was deleted from namespace "${namespace}"`);
    this.name = 'RunGoneError';
  }
}

/**
 * The states of one Run, from the present one (or the one that is known) on; undefined as the last when it is deleted. Ends after its
 * terminal state, unless its deletion is waited for, and when the signal fires. @throws StatusError when there is none at the start
 */
export async function* runUpdates(
  client: Client,
  { namespace, name }: RunName,
  { known, signal, untilDeleted = false }: { known?: Run; signal?: AbortSignal; untilDeleted?: boolean } = {},
): AsyncGenerator<Run | undefined, void, void> {
  const runs = client.resource(RunKind, namespace);
  let run = known ?? (await runs.get(name, { signal }));
  const { uid } = run.metadata;
  for (;;) {
    yield run;
    if (!untilDeleted && isTerminal(phaseOf(run))) return;
    for await (const update of runs.watch({
      fieldSelector: `metadata.name=${name}`,
      resourceVersion: run.metadata.resourceVersion,
      signal,
    })) {
      if (!('object' in update)) continue;
      // One of the same name may have been made after it.
      if (update.type === 'DELETED' || update.object.metadata.uid !== uid) return yield undefined;
      yield update.object;
      if (!untilDeleted && isTerminal(phaseOf(update.object))) return;
    }
    if (signal?.aborted) return;
    // The watch has lost its place: what is now matters, not what was in between.
    const current = await currentRun(() => runs.get(name, { signal }));
    if (current === undefined || current.metadata.uid !== uid) return yield undefined;
    run = current;
  }
}

async function currentRun(get: () => Promise<Run>): Promise<Run | undefined> {
  try {
    return await get();
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** Resolves when the Run has ended. `onUpdate` is told of the states before. @throws RunGoneError */
export async function waitForEnd(
  client: Client,
  name: RunName,
  options: { known?: Run; signal?: AbortSignal; onUpdate?: (run: Run) => void } = {},
): Promise<Run> {
  for await (const run of runUpdates(client, name, options)) {
    if (run === undefined) throw new RunGoneError(name);
    if (isTerminal(phaseOf(run))) return run;
    options.onUpdate?.(run);
  }
  options.signal?.throwIfAborted();
  throw new RunGoneError(name);
}
