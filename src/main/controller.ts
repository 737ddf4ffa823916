import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Client } from '../client/client.ts';
import { randomSuffix } from '../lib/ids.ts';
import { aborted, longLivedController, sleep } from '../lib/abort.ts';
import { realClock } from '../lib/clock.ts';
import { createLog, type Log, type LogLevel } from '../lib/log.ts';
import { MetricsRegistry } from '../lib/metrics.ts';
import { outliveReader } from '../lib/outlive-reader.ts';
import { runAsLeader } from '../runtime/leader-election.ts';
import { definitionsForKubernetes, installObjects } from './areas.ts';
import { CONTROLLER_AREAS, leaseOf, type AreaEnvironment } from './controller-areas.ts';
import { addressOf, areasOf, connectAs, reach, serveHealth, type State } from './on-kubernetes.ts';
import { productVersion } from './product-version.ts';

export interface ControllerOptions {
  kubeconfig?: string;
  context?: string;
  namespace?: string;
  /** Names with commas between them; absent: all. */
  area?: string;
  leaderElect: boolean;
  install: boolean;
  bindAddress: string;
  runtimedImage: string;
  maintainerImage: string;
  /** The registries file, for what the controllers themselves read from registries. */
  registries?: string;
  logLevel: LogLevel;
  logFormat: 'pretty' | 'json';
}

/** After a failure that is not the loss of a Lease: the API server may be away for long. */
const AGAIN_MS = 5000;

/** `tenantry controller`: runs areas on a user's Kubernetes until it is told to stop. */
export async function controller(options: ControllerOptions): Promise<void> {
  const log = createLog({ level: options.logLevel, format: options.logFormat });
  if (options.registries !== undefined && !existsSync(options.registries)) {
    throw new Error(`Cannot read the registries file "${options.registries}": there is none; check the path`);
  }
  const areas = areasOf(options.area, Object.keys(CONTROLLER_AREAS));
  const { client, clientAs, namespace, server } = await connectAs('tenantry-controller', 'kube-system', options);
  const metrics = new MetricsRegistry();
  const states = new Map<string, State>(areas.map((area) => [area, 'starting']));
  const stop = longLivedController();
  // From here on a signal means a clean stop. A second one does not wait.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => (stop.signal.aborted ? process.exit(1) : stop.abort()));
  const listener = await serveHealth(options.bindAddress, metrics, states);
  const images = { runtimed: options.runtimedImage, maintainer: options.maintainerImage };
  const environment = { client, clientAs, clock: realClock, log, metrics, images, registries: options.registries };
  try {
    const version = await reach(client, server);
    outliveReader(process.stdout);
    process.stdout.write(
      `Tenantry ${productVersion()} runs ${areas.join(', ')} on Kubernetes ${version} at ${server}; ${addressOf(listener)}\n`,
    );
    await Promise.all(areas.map((area) => runArea(area, { ...options, namespace }, environment, states, stop.signal)));
  } finally {
    listener.closeAllConnections();
    listener.close();
    await client.close();
  }
}

/** Leads, loses, stands again, until the signal fires. */
async function runArea(
  name: string,
  options: ControllerOptions & { namespace: string },
  environment: AreaEnvironment,
  states: Map<string, State>,
  signal: AbortSignal,
): Promise<void> {
  const log = environment.log.with({ area: name });
  const lead = async (leading: AbortSignal) => {
    if (options.install) await install(name, options.namespace, environment.client, log);
    const area = await CONTROLLER_AREAS[name].start({ ...environment, log });
    states.set(name, 'leading');
    await aborted(leading);
    states.set(name, signal.aborted ? 'stopping' : 'standing by');
    await area.stop();
  };
  const { client } = environment;
  const election = { client, log, namespace: options.namespace, name: leaseOf(name), identity: `${hostname()}_${randomSuffix(5)}` };
  while (!signal.aborted) {
    try {
      states.set(name, 'standing by');
      await (options.leaderElect ? runAsLeader(election, lead, signal) : lead(signal));
    } catch (error) {
      log.error('cannot run the area, will try again', { error });
      await sleep(realClock, AGAIN_MS, signal).catch(() => {});
    }
  }
}

/** By the one who leads, so that no two write at once. */
async function install(name: string, namespace: string, client: Client, log: Log): Promise<void> {
  const { groups, objects } = CONTROLLER_AREAS[name];
  const written = [
    ...(await installObjects(client, definitionsForKubernetes(groups))),
    ...(await installObjects(client, objects(namespace))),
  ];
  log.info('installed', { written: written.filter((what) => what !== 'same').length });
}
