import { RunKind } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import type { Client } from '../../../client/client.ts';
import type { Clock } from '../../../lib/clock.ts';
import { errorText, type Log } from '../../../lib/log.ts';
import { Controller } from '../../../runtime/controller.ts';
import { EventRecorder } from '../../../runtime/event-recorder.ts';
import { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { ArtifactStoreDriver } from '../artifacts/artifact-store.ts';
import { runWithArtifacts, storeToClean, WITH_ARTIFACTS } from '../artifacts/model/run-with-artifacts.ts';
import { releaseRun } from '../artifacts/release-run.ts';

export interface MaintainerStart {
  client: Client;
  namespace: string;
  /** Which store this is: Runs with artifacts elsewhere are left alone. */
  storeHash: string;
  store: ArtifactStoreDriver;
  /** The longest wait before a store that failed is asked again. */
  intervalMs: number;
  clock: Clock;
  log: Log;
}

/** Removes the artifacts of Runs that are being deleted, then lets these go. Outlives the Pods and Runtimes that the artifacts came from. */
export function startMaintainer(options: MaintainerStart): { stop(): Promise<void> } {
  const { client, namespace, clock, log, store } = options;
  const informers = new SharedInformers({ client, log });
  const runs = informers.get(RunKind, { namespace, fieldSelector: WITH_ARTIFACTS, transform: runWithArtifacts });
  const events = new EventRecorder({ client, log, controller: 'artifact-cleanup', instance: 'runtime-maintainer' });
  const controller = new Controller({
    name: 'runtime-maintainer',
    clock,
    log,
    concurrency: 4,
    backoff: { initialMs: 1000, maxMs: Math.max(1000, options.intervalMs), jitter: 0.1 },
    async reconcile(key) {
      const run = runs.get(key);
      if (run === undefined || storeToClean(run) !== options.storeHash) return;
      try {
        await store.removeAll({ namespace, uid: run.metadata.uid! });
      } catch (error) {
        events.record(run, { type: 'Warning', reason: 'ArtifactCleanupRetry', message: errorText(error) });
        throw error;
      }
      await releaseRun(client, run);
    },
  });
  controller.watch(runs).start();
  return {
    async stop() {
      await controller.stop();
      await informers.stop();
    },
  };
}
