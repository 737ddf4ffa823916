import type { Server } from 'node:net';
import type { Client } from '../../../client/client.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { MetricsRegistry } from '../../../lib/metrics.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';

export interface NetworkOptions {
  client: Client;
  clock: Clock;
  log: Log;
  /** The node's data directory: `network/` in it is ours, and its path tells the instances on one machine apart. */
  dir: string;
  /** The range that the API server takes the addresses of Services from. */
  serviceCidr: string;
  /** Where the API server listens, as seen from this process. */
  apiServer: { address: string; port: number };
  /** Gives the API server, when it is on this machine, the socket at which Pods ask for it; absent: what they say is passed on from here. */
  handToApiServer?: (entrance: Server) => Promise<void>;
  /** Decides which endpoints are local. */
  nodeName?: string;
  /** The range of Pods; absent: the one of before, or the first that is free on this machine. */
  podCidr?: string;
  /** Where node ports are opened on the machine. */
  nodePortAddress?: string;
  /** The address of Pods in the machine's network; absent: the machine's end of the link to the router. */
  nodeAddress?: string;
  domain?: string;
  /** Pods reach what is outside through the machine's address. */
  egress?: boolean;
  /** Tell about packets that policies stopped, as Events and as a metric. */
  reportDenials?: boolean;
  metrics?: MetricsRegistry;
  informers?: SharedInformers;
  /** Name of a network namespace that plays the machine, so that the real one is left alone. */
  machineNamespace?: string;
  /** Names the machine's resolvers. */
  resolvConf?: string;
}

export const DEFAULT_DOMAIN = 'cluster.local';
export const DEFAULT_NODE_PORT_ADDRESS = '127.0.0.1';
