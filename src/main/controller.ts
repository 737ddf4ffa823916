import { createServer, type Server } from 'node:http';
import { hostname, homedir } from 'node:os';
import { createClient, type Client } from '../client/client.ts';
import { connectContext, connectInCluster } from '../client/config/connect.ts';
import type { KubeObject } from '../kube/object.ts';
import { randomSuffix } from '../lib/ids.ts';
import { aborted, longLivedController, sleep } from '../lib/abort.ts';
import { realClock } from '../lib/clock.ts';
import { createLog, type Log, type LogLevel } from '../lib/log.ts';
import { MetricsRegistry } from '../lib/metrics.ts';
import { runAsLeader } from '../runtime/leader-election.ts';
import { chooseContext } from '../sdk/cluster.ts';
import { builtDefinitions, installObjects } from './areas.ts';
import { CONTROLLER_AREAS, leaseOf, type AreaEnvironment } from './controller-areas.ts';
import { dataDirectory } from './data-directory.ts';
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
  logLevel: LogLevel;
  logFormat: 'pretty' | 'json';
}

/** What `--kubeconfig` is for the cluster that this process is a Pod of. */
export const IN_CLUSTER = 'in-cluster';
const DEFAULT_NAMESPACE = 'kube-system';
/** After a failure that is not the loss of a Lease: the API server may be away for long. */
const AGAIN_MS = 5000;

type State = 'starting' | 'standing by' | 'leading' | 'stopping';

/** `tenantry controller`: runs areas on a user's Kubernetes until it is told to stop. */
export async function controller(options: ControllerOptions): Promise<void> {
  const log = createLog({ level: options.logLevel, format: options.logFormat });
  const areas = areasOf(options.area);
  const { client, namespace, server } = await connect(options);
  const metrics = new MetricsRegistry();
  const states = new Map<string, State>(areas.map((area) => [area, 'starting']));
  const stop = longLivedController();
  // From here on a signal means a clean stop. A second one does not wait.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => (stop.signal.aborted ? process.exit(1) : stop.abort()));
  const listener = await serve(options.bindAddress, metrics, states);
  const images = { runtimed: options.runtimedImage, maintainer: options.maintainerImage };
  const environment = { client, clock: realClock, log, metrics, images };
  try {
    const version = await reach(client, server);
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

function areasOf(text: string | undefined): string[] {
  const known = Object.keys(CONTROLLER_AREAS);
  const named = text === undefined ? known : [...new Set(text.split(',').map((name) => name.trim()))];
  const unknown = named.find((name) => !known.includes(name));
  if (unknown === undefined) return named;
  throw new Error(`Cannot run area "${unknown}": there is none of that name; the areas are ${known.join(', ')}`);
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
  const isOurs = ({ spec }: KubeObject) => groups.includes(spec?.group);
  const written = [
    ...(await installObjects(client, builtDefinitions().filter(isOurs))),
    ...(await installObjects(client, objects(namespace))),
  ];
  log.info('installed', { written: written.filter((what) => what !== 'same').length });
}

async function connect({ kubeconfig, context, namespace }: ControllerOptions) {
  const { env } = process;
  const userAgent = `tenantry-controller/${productVersion()}`;
  const surroundings = { env, home: homedir(), userAgent, dataDirectory };
  const chosen = kubeconfig === IN_CLUSTER ? undefined : await chooseContext({ kubeconfig, context }, surroundings);
  if (chosen === undefined) {
    const own = await connectInCluster(env, { userAgent });
    return { client: createClient(own.transport), namespace: namespace ?? own.namespace, server: IN_CLUSTER };
  }
  const transport = await connectContext(chosen, { userAgent, env });
  return { client: createClient(transport), namespace: namespace ?? DEFAULT_NAMESPACE, server: chosen.cluster.server! };
}

/** Says at once when the cluster cannot be reached or does not know us. */
async function reach(client: Client, server: string): Promise<string> {
  try {
    const { gitVersion } = await client.request<{ gitVersion: string }>({ method: 'GET', path: '/version' });
    return gitVersion;
  } catch (error) {
    const state = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot run controllers on "${server}": ${state}; check that it runs, and the kubeconfig`, { cause: error });
  }
}

/** `/metrics`, `/healthz` and `/readyz`. Who stands by is ready: to take over is what it is there for. */
function serve(address: string, metrics: MetricsRegistry, states: ReadonlyMap<string, State>): Promise<Server> {
  const at = address.lastIndexOf(':');
  const port = Number(address.slice(at + 1));
  if (at < 0 || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`Cannot listen on "${address}": it is not host:port; say it like 127.0.0.1:8082, or :8082 for all addresses`);
  }
  const answers: Record<string, () => { status: number; text: string }> = {
    '/metrics': () => ({ status: 200, text: metrics.expose() }),
    '/healthz': () => ({ status: 200, text: 'ok\n' }),
    '/readyz': () => ({
      status: [...states.values()].some((state) => state === 'starting' || state === 'stopping') ? 503 : 200,
      text: [...states].map(([area, state]) => `${area}: ${state}\n`).join(''),
    }),
  };
  const listener = createServer((request, response) => {
    const { status, text } = answers[(request.url ?? '').split('?')[0]]?.() ?? { status: 404, text: 'not found\n' };
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
  });
  return new Promise((resolve, reject) => {
    listener.once('error', (error: NodeJS.ErrnoException) => {
      const state = error.code === 'EADDRINUSE' ? 'another program does' : error.message;
      reject(new Error(`Cannot listen on "${address}": ${state}; choose another --bind-address`, { cause: error }));
    });
    listener.listen(port, address.slice(0, at).replace(/^\[|\]$/g, '') || undefined, () => resolve(listener));
  });
}

function addressOf(listener: Server): string {
  const { address, port, family } = listener.address() as { address: string; port: number; family: string };
  return `metrics at http://${family === 'IPv6' ? `[${address}]` : address}:${port}/metrics`;
}
