import type { Client } from '../../client/client.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { MetricsRegistry } from '../../lib/metrics.ts';
import type { SharedInformers } from '../../runtime/informer/shared-informers.ts';
import type { RuntimeSettings } from './controllers/runtime/model/runtime-deployment.ts';

/** What every controller of the area is made with. */
export interface RunsEnvironment {
  client: Client;
  clock: Clock;
  log: Log;
  metrics: MetricsRegistry;
  informers: SharedInformers;
  settings: RuntimeSettings;
}
