import type { Client } from '../../client/client.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { MetricsRegistry } from '../../lib/metrics.ts';
import { SharedInformers } from '../../runtime/informer/shared-informers.ts';
import { runtimeController } from './controllers/runtime/runtime.controller.ts';
import type { RuntimeSettings } from './controllers/runtime/model/runtime-deployment.ts';
import { artifactCleanupController } from './controllers/artifact-cleanup/artifact-cleanup.controller.ts';
import { runTtlController } from './controllers/run-ttl/run-ttl.controller.ts';
import { staleRunController } from './controllers/stale-run/stale-run.controller.ts';
import { startRunScheduler } from './scheduler/start-run-scheduler.ts';

export interface RunsStart {
  client: Client;
  clock: Clock;
  log: Log;
  metrics: MetricsRegistry;
  settings: RuntimeSettings;
}

/** The runs area, all of it in one process: scheduler and controllers. */
export function startRuns(options: RunsStart): { stop(): Promise<void> } {
  const informers = new SharedInformers({ client: options.client, log: options.log });
  const environment = { ...options, informers };
  const controllers = [
    runtimeController(environment),
    staleRunController(environment),
    runTtlController(environment),
    artifactCleanupController(environment),
  ];
  for (const controller of controllers) controller.start();
  const scheduler = startRunScheduler(options);
  return {
    async stop() {
      await Promise.all([scheduler.stop(), ...controllers.map((controller) => controller.stop())]);
      await informers.stop();
    },
  };
}
