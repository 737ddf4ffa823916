import { ARTIFACT_FINALIZER } from '../../../api/kruntimes.io/v1alpha1/names.ts';
import { RunKind, type Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import type { Client } from '../../../client/client.ts';
import { isStatusError } from '../../../kube/status.ts';

/** Lets a Run go whose artifacts are gone. The list is replaced as a whole, so it must still be the one that was read. */
export async function releaseRun(client: Client, { metadata }: Run): Promise<void> {
  const { name, namespace, resourceVersion } = metadata;
  const finalizers = (metadata.finalizers ?? []).filter((finalizer) => finalizer !== ARTIFACT_FINALIZER);
  try {
    await client.resource(RunKind, namespace).patch(name!, { type: 'merge', patch: { metadata: { resourceVersion, finalizers } } });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}
