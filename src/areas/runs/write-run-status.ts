import { RunKind, type Run, type RunStatus } from '../../api/kruntimes.io/v1alpha1/run.ts';
import type { Client } from '../../client/client.ts';
import { mergeDifference } from '../../runtime/steps/merge-difference.ts';

/** One for all who write the status of Runs: an API server goes through what each manager has with every write. */
const FIELD_MANAGER = 'kruntimes';

/**
 * Writes a Run's status on the condition that the Run is still as it was read: only the difference travels. A merge patch keeps what
 * others added that we do not know, which an update would drop.
 */
export function writeRunStatus(client: Client, run: Run, status: RunStatus, signal?: AbortSignal): Promise<Run> {
  const { name, namespace, resourceVersion } = run.metadata;
  const patch = { metadata: { resourceVersion }, status: mergeDifference(run.status ?? {}, status) ?? {} };
  // Nobody here reads warnings of fields that an older API does not know; not to look for them saves the server a pass over the object.
  const options = { fieldManager: FIELD_MANAGER, fieldValidation: 'Ignore', signal } as const;
  return client.resource(RunKind, namespace).status.patch(name!, { type: 'merge', patch }, options);
}
