import { ARTIFACT_STORE_HASH_LABEL } from '../../../../api/kruntimes.io/v1alpha1/names.ts';
import { RunKind, type Run } from '../../../../api/kruntimes.io/v1alpha1/run.ts';
import { Deployment, Namespace } from '../../../../client/kinds.ts';
import { isStatusError } from '../../../../kube/status.ts';
import { Controller } from '../../../../runtime/controller.ts';
import { EventRecorder } from '../../../../runtime/event-recorder.ts';
import { splitKey, toKey } from '../../../../runtime/informer/object-cache.ts';
import { applyObject } from '../../apply-object.ts';
import { storeHash } from '../../artifacts/model/store-hash.ts';
import { runWithArtifacts, storeToClean, WITH_ARTIFACTS } from '../../artifacts/model/run-with-artifacts.ts';
import { releaseRun } from '../../artifacts/release-run.ts';
import type { RunsEnvironment } from '../../runs-environment.ts';
import { maintainerAccount, maintainerDeployment, maintainerName } from './model/maintainer-objects.ts';

/** A maintainer that has nothing to do any more stays this long: Runs are often deleted in groups. */
const IDLE_MS = 60_000;

/**
 * Sees to it that a store has a maintainer for as long as Runs with artifacts in it are to go. Keys are `namespace/hash of the store`.
 * Woken by such Runs and by the maintainers themselves.
 */
export function artifactCleanupController(environment: RunsEnvironment): Controller {
  const { client, clock, log, metrics, informers, settings } = environment;
  const runs = informers.get(RunKind, { fieldSelector: WITH_ARTIFACTS, transform: runWithArtifacts });
  const maintainers = informers.get(Deployment, { labelSelector: ARTIFACT_STORE_HASH_LABEL });
  runs.addIndex('storeToClean', (run) => keysOf(run));
  const events = new EventRecorder({ client, log, controller: 'artifact-cleanup', instance: 'kruntimes-controller' });
  const idleSince = new Map<string, number>();

  const ensure = async (namespace: string, hash: string, waiting: Run[]): Promise<void> => {
    const isNew = maintainers.find(namespace, maintainerName(hash)) === undefined;
    for (const object of isNew ? maintainerAccount(namespace) : []) await applyObject(client, object, FIELD_MANAGER);
    const { artifactStore } = waiting[0].status!;
    await applyObject(client, maintainerDeployment(namespace, hash, artifactStore!, settings.maintainerImage), FIELD_MANAGER);
    if (!isNew) return;
    const message = `Deployment "${maintainerName(hash)}" cleans up the artifacts of deleted Runs`;
    events.record(waiting[0], { type: 'Normal', reason: 'RuntimeMaintainerEnsured', message });
  };
  /** Nothing new starts in a namespace that goes, and it goes only when its Runs have: the volume goes with it, a bucket keeps its objects. */
  const giveUp = async (namespace: string, waiting: Run[], error: unknown): Promise<void> => {
    const { metadata } = await client.resource(Namespace).get(namespace);
    if (metadata.deletionTimestamp === undefined) throw error;
    for (const run of waiting) {
      if (run.status?.artifactStore?.driver === 's3') {
        const { uid, name } = run.metadata;
        log.warn('artifacts stay in their bucket, their namespace is being deleted', { namespace, run: name, uid });
      }
      await releaseRun(client, run);
    }
  };
  const retire = async (key: string, namespace: string, hash: string): Promise<{ afterMs: number } | undefined> => {
    const existing = maintainers.find(namespace, maintainerName(hash));
    if (existing === undefined) return void idleSince.delete(key);
    const since = idleSince.get(key) ?? clock.monotonic();
    idleSince.set(key, since);
    const left = since + IDLE_MS - clock.monotonic();
    // That nothing happened for a while is told by no watch.
    if (left > 0) return { afterMs: left };
    idleSince.delete(key);
    const { name, uid } = existing.metadata;
    await client
      .resource(Deployment, namespace)
      .delete(name!, { propagationPolicy: 'Background', preconditions: { uid } })
      .catch((error: unknown) => {
        if (!isStatusError(error, 'NotFound')) throw error;
      });
    return undefined;
  };

  return (
    new Controller({
      name: 'artifact-cleanup',
      clock,
      log,
      metrics,
      async reconcile(key) {
        const { namespace, name: hash } = splitKey(key);
        const waiting = runs.byIndex('storeToClean', key);
        if (waiting.length === 0) return retire(key, namespace!, hash);
        idleSince.delete(key);
        try {
          await ensure(namespace!, hash, waiting);
        } catch (error) {
          if (!isStatusError(error, 'Forbidden')) throw error;
          await giveUp(namespace!, waiting, error);
        }
        return undefined;
      },
    })
      // Also for a Run that has been cleaned up after: with the last one its maintainer has nothing left to do.
      .watch(runs, ({ object: { metadata, status } }) => {
        const isGoing = metadata.deletionTimestamp !== undefined && status?.artifactStore !== undefined;
        return isGoing ? [toKey(metadata.namespace, storeHash(status.artifactStore!))] : [];
      })
      .watch(maintainers, ({ object }) => {
        const { namespace, labels } = object.metadata;
        return [toKey(namespace, labels![ARTIFACT_STORE_HASH_LABEL])];
      })
  );
}

const FIELD_MANAGER = 'kruntimes-controller';

function keysOf(run: Run): string[] {
  const hash = storeToClean(run);
  return hash === undefined ? [] : [toKey(run.metadata.namespace, hash)];
}
