import type { Client } from '../../client/client.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { MetricsRegistry } from '../../lib/metrics.ts';
import type { SharedInformers } from '../../runtime/informer/shared-informers.ts';
import type { RunsInFlight } from './quota/runs-in-flight.ts';
import type { TreeQuotas } from './quota/tree-quotas.ts';
import type { Forest } from './forest/forest.ts';
import type { PropagatedTypes } from './propagation/propagated-types.ts';

/** What the area is started with, on either engine. */
export interface TenancyStart {
  client: Client;
  clock: Clock;
  log: Log;
  metrics: MetricsRegistry;
}

/** What every controller and every admission rule of the area is made with. */
export interface TenancyEnvironment extends TenancyStart {
  informers: SharedInformers;
  /** The tree, kept by informers of its own; all its reads are synchronous. */
  forest: Forest;
  /** The types of objects that are copied down the tree. */
  types: PropagatedTypes;
  quotas: TreeQuotas;
  /** Runs that have not ended, against the limits on them. */
  runs: RunsInFlight;
}
