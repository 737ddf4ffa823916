import type { Client } from '../../client/client.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { MetricsRegistry } from '../../lib/metrics.ts';
import type { EventRecorder } from '../../runtime/event-recorder.ts';
import type { SharedInformers } from '../../runtime/informer/shared-informers.ts';

/** What every built-in controller is made from. */
export interface Environment {
  client: Client;
  clock: Clock;
  log: Log;
  metrics?: MetricsRegistry;
  informers: SharedInformers;
  /** Events under the name that this controller has in Kubernetes: `kubectl describe` shows it. */
  events: EventRecorder;
}

/** A running controller. */
export interface Running {
  stop(): Promise<void>;
}
