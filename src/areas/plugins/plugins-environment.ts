import type { Client } from '../../client/client.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { MetricsRegistry } from '../../lib/metrics.ts';
import type { EventRecorder } from '../../runtime/event-recorder.ts';
import type { SharedInformers } from '../../runtime/informer/shared-informers.ts';
import type { FollowRefusals } from './audit/attempt-source.ts';
import type { EmbeddedDatabase } from './database/platform-database.ts';
import type { TenantHomes } from './placement/tenant-home.ts';
import type { ImageRegistry } from './verification/image-evidence.ts';

/** What the area is started with, on either engine. */
export interface PluginsStart {
  client: Client;
  clock: Clock;
  log: Log;
  metrics: MetricsRegistry;
  /** Where the images of plugins are. */
  registry: ImageRegistry;
  /** A PostgreSQL of the platform's own, for when the settings name none. */
  embeddedDatabase?: EmbeddedDatabase;
  /** The requests that the API server refuses, where it is one that tells us. */
  followRefusals?: FollowRefusals;
  /** Where tenants live; absent: on the host, all of them. */
  homes?: TenantHomes;
  /** Which process this is, in Events. */
  instance: string;
}

/** What every controller of the area is made with. */
export interface PluginsEnvironment extends PluginsStart {
  informers: SharedInformers;
  events: EventRecorder;
}
