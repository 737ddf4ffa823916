import type { Client } from '../../client/client.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { MetricsRegistry } from '../../lib/metrics.ts';
import type { ExporterSettings } from '../../lib/tracing/exporter-settings.ts';
import { SharedInformers } from '../../runtime/informer/shared-informers.ts';
import { runtimeController } from './controllers/runtime/runtime.controller.ts';
import type { RuntimeSettings } from './controllers/runtime/model/runtime-deployment.ts';
import { artifactCleanupController } from './controllers/artifact-cleanup/artifact-cleanup.controller.ts';
import { runTtlController } from './controllers/run-ttl/run-ttl.controller.ts';
import { staleRunController } from './controllers/stale-run/stale-run.controller.ts';
import { startRunTraces } from './tracing/start-run-traces.ts';
import { startRunScheduler } from './scheduler/start-run-scheduler.ts';

export interface RunsStart {
  client: Client;
  clock: Clock;
  log: Log;
  metrics: MetricsRegistry;
  settings: RuntimeSettings;
  /** Where traces of Runs go; absent: nowhere. */
  traces?: ExporterSettings;
}

/** The runs area, all of it in one process: scheduler and controllers. */
export function startRuns({ traces: exporter, ...options }: RunsStart): { stop(): Promise<void> } {
  const informers = new SharedInformers({ client: options.client, log: options.log });
  const settings = { ...options.settings, tracesUrl: exporter?.url };
  const environment = { ...options, settings, informers };
  const controllers = [
    runtimeController(environment),
    staleRunController(environment),
    runTtlController(environment),
    artifactCleanupController(environment),
  ];
  for (const controller of controllers) controller.start();
  const scheduler = startRunScheduler({ ...options, informers });
  const traces = exporter && startRunTraces({ ...environment, exporter });
  return {
    async stop() {
      await Promise.all([scheduler.stop(), ...controllers.map((controller) => controller.stop())]);
      await traces?.stop();
      await informers.stop();
    },
  };
}
