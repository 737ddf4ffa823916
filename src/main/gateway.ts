import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { GATEWAY_ACCOUNT, gatewayRights } from '../areas/plugins/gateway/gateway-rights.ts';
import { instanceName } from '../areas/plugins/gateway/model/instance-name.ts';
import { startGateway } from '../areas/plugins/gateway/start-gateway.ts';
import { aborted, longLivedController } from '../lib/abort.ts';
import { realClock } from '../lib/clock.ts';
import { createLog, type LogLevel } from '../lib/log.ts';
import { MetricsRegistry } from '../lib/metrics.ts';
import { outliveReader } from '../lib/outlive-reader.ts';
import { installObjects } from './areas.ts';
import { addressOf, connectAs, listenAddress, reach, serveHealth, type State } from './on-kubernetes.ts';
import { productVersion } from './product-version.ts';

export interface GatewayOptions {
  kubeconfig?: string;
  context?: string;
  install: boolean;
  listen: string;
  bindAddress: string;
  logLevel: LogLevel;
  logFormat: 'pretty' | 'json';
}

/** Longer than it takes until nobody sends requests to a Pod that is ending. */
const LAST_REQUESTS_MS = 3_000;

/** `tenantry gateway`: the way to the plugins of tenants on a user's Kubernetes. Run two or more of it. */
export async function gateway(options: GatewayOptions): Promise<void> {
  const log = createLog({ level: options.logLevel, format: options.logFormat });
  const { client, clientAs, server } = await connectAs('tenantry-gateway', GATEWAY_ACCOUNT.namespace, options);
  const metrics = new MetricsRegistry();
  const states = new Map<string, State>([['gateway', 'starting']]);
  const stop = longLivedController();
  // A second signal does not wait.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => (stop.signal.aborted ? process.exit(1) : stop.abort()));
  const health = await serveHealth(options.bindAddress, metrics, states);
  try {
    const version = await reach(client, server);
    if (options.install) await installObjects(client, gatewayRights());
    const own = await clientAs(GATEWAY_ACCOUNT);
    const instance = instanceName(hostname(), randomBytes(4).toString('hex'));
    const running = await startGateway({ client: own, clock: realClock, log, metrics, instance });
    const { host, port } = listenAddress(options.listen, 8090);
    const at = await running.listen(host, port);
    states.set('gateway', 'leading');
    outliveReader(process.stdout);
    process.stdout.write(
      `Tenantry ${productVersion()} leads to plugins on Kubernetes ${version} at ${server}, port ${at}; ${addressOf(health)}\n`,
    );
    await aborted(stop.signal);
    states.set('gateway', 'stopping');
    // The Service still sends requests here until all have heard that this Pod is ending.
    if (host === undefined) await new Promise((resolve) => void setTimeout(resolve, LAST_REQUESTS_MS));
    await running.stop();
  } finally {
    health.closeAllConnections();
    health.close();
    await client.close();
  }
}
