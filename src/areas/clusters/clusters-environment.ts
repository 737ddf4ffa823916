import type { Client } from '../../client/client.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { MetricsRegistry } from '../../lib/metrics.ts';
import type { SharedInformers } from '../../runtime/informer/shared-informers.ts';
import type { ControlPlanes } from './control-plane/control-planes.ts';
import type { Offers } from './policy/model/offers.ts';

/** What the area is started with. */
export interface ClustersStart {
  /** Of the cluster that tenants' clusters are objects of. */
  hostClient: Client;
  clock: Clock;
  log: Log;
  metrics: MetricsRegistry;
  controlPlanes: readonly ControlPlanes[];
  /** What can be had here. */
  offers: Offers;
}

export interface ClustersEnvironment extends ClustersStart {
  informers: SharedInformers;
  planesOf(provider: string | undefined): ControlPlanes | undefined;
}
