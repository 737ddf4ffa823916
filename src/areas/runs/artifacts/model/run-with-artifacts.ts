import { ARTIFACT_FINALIZER } from '../../../../api/kruntimes.io/v1alpha1/names.ts';
import type { Run } from '../../../../api/kruntimes.io/v1alpha1/run.ts';
import { HERE, phaseOf } from '../../../../api/kruntimes.io/v1alpha1/run-state.ts';
import { storeHash } from './store-hash.ts';

/** Runs that have said where their artifacts are: they do so before they have any. Those of Runs that work elsewhere are elsewhere. */
export const WITH_ARTIFACTS = `status.artifactStore.driver!=,${HERE}`;

/** What is kept of such a Run: there may be many. */
export function runWithArtifacts(run: Run): Run {
  const { name, namespace, uid, resourceVersion, finalizers, deletionTimestamp } = run.metadata;
  return {
    apiVersion: run.apiVersion,
    kind: run.kind,
    metadata: { name, namespace, uid, resourceVersion, ...(finalizers && { finalizers }), ...(deletionTimestamp && { deletionTimestamp }) },
    spec: { runtime: run.spec.runtime, mode: {} },
    status: { phase: phaseOf(run), artifactStore: run.status?.artifactStore },
  };
}

/** The hash of the store that has to be cleaned up before the Run can go; undefined: nothing has to be. */
export function storeToClean({ metadata, status }: Run): string | undefined {
  const waits = metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(ARTIFACT_FINALIZER) === true;
  return waits && status?.artifactStore !== undefined ? storeHash(status.artifactStore) : undefined;
}
