import type { Client } from '../../../client/client.ts';
import { Namespace } from '../../../client/kinds.ts';
import { longLivedController } from '../../../lib/abort.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { MetricsRegistry } from '../../../lib/metrics.ts';
import type { ExporterSettings } from '../../../lib/tracing/exporter-settings.ts';
import { OtlpExporter } from '../../../lib/tracing/otlp-exporter.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { TENANT_LABEL } from '../scheduler/start-run-scheduler.ts';
import { observeRuns } from './observe-runs.ts';
import { RunTimelines } from './run-timelines.ts';

export interface RunTracesStart {
  client: Client;
  clock: Clock;
  log: Log;
  metrics: MetricsRegistry;
  informers: SharedInformers;
  exporter: ExporterSettings;
}

/** Tells a collector of every Run, from outside: neither the scheduler nor the controllers know of it. */
export function startRunTraces({ client, clock, log, metrics, informers, exporter }: RunTracesStart): { stop(): Promise<void> } {
  const sink = new OtlpExporter({ ...exporter, clock, log, metrics });
  const namespaces = informers.get(Namespace, { metadataOnly: true });
  const timelines = new RunTimelines(sink, (namespace) => namespaces.get(namespace)?.metadata.labels?.[TENANT_LABEL]);
  const abort = longLivedController();
  const observing = observeRuns({ client, timelines, clock, log }, abort.signal);
  return {
    async stop() {
      abort.abort();
      await observing;
      await sink.close();
    },
  };
}
