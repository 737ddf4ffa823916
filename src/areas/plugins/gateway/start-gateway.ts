import { CrossTenantAttemptKind } from '../../../api/plugins.tenantry.dev/v1alpha1/cross-tenant-attempt.ts';
import type { Client } from '../../../client/client.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { MetricsRegistry } from '../../../lib/metrics.ts';
import { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { AttemptRecorder } from '../audit/attempt-recorder.ts';
import { Callers } from './callers.ts';
import { Calls } from './calls.ts';
import { gatewayMetrics, type GatewayMetrics } from './gateway-metrics.ts';
import { GatewayServer } from './gateway-server.ts';
import { PlacedConnections } from './placed-connections.ts';
import { RouteTable } from './route-table.ts';
import { TrafficReport } from './traffic-report.ts';
import { Traffic } from './traffic.ts';
import { Upstream } from './upstream.ts';

export interface GatewayStart {
  client: Client;
  clock: Clock;
  log: Log;
  metrics: MetricsRegistry;
  /** Which of the gateways this is: what it tells of itself has this name. */
  instance: string;
  random?: () => number;
}

export interface RunningGateway {
  /** One more address where it answers. @returns the port */
  listen(host: string | undefined, port: number): Promise<number>;
  stop(): Promise<void>;
}

const TIMEOUTS = { connectMs: 2_000, answerMs: 60_000 };
/** What has reached no Pod waits so long for one: about what it takes to start one again. */
const PATIENCE_MS = 5_000;
const IDLE_MS = 300_000;
/** Shorter than the time that a Pod gets to end. */
const STOP_GRACE_MS = 25_000;

/** The data plane of plugins: it answers once it knows all there is to know. */
export async function startGateway(options: GatewayStart): Promise<RunningGateway> {
  const { client, clock, log, random = Math.random } = options;
  const informers = new SharedInformers({ client, log });
  const table = new RouteTable(informers);
  const traffic = new Traffic();
  const metrics = gatewayMetrics(options.metrics);
  const upstream = new Upstream(clock, new PlacedConnections(table.access, clock));
  const callers = new Callers(client, table, clock);
  const calls = new Calls({ table, callers, upstream, traffic, metrics, clock, random, timeouts: TIMEOUTS, patienceMs: PATIENCE_MS });
  const report = new TrafficReport({ client, clock, log, traffic, installations: table.installations, instance: options.instance });
  const attempts = new AttemptRecorder({ client, clock, log, metrics: options.metrics, attempts: informers.get(CrossTenantAttemptKind) });
  const server = new GatewayServer({
    calls,
    metrics,
    isKnown: (tenant, plugin) => table.find(tenant, plugin) !== undefined,
    onRefused: ({ offender, message }, request) => {
      if (!offender) return;
      const target = (request.url ?? '').split('?')[0];
      attempts.report({
        ...offender,
        kind: 'gateway',
        target,
        rule: 'CrossTenant',
        message,
        source: request.socket.remoteAddress,
        at: clock.now(),
      });
    },
    clock,
    log,
    idleMs: IDLE_MS,
  });
  forgetWhatIsGone(table, metrics, attempts);
  try {
    await table.whenSynced();
    await report.start();
    return {
      listen: (host, port) => server.listen(host, port),
      async stop() {
        await server.stop(STOP_GRACE_MS);
        upstream.close();
        await report.stop();
        await attempts.stop();
        await informers.stop();
      },
    };
  } catch (error) {
    await informers.stop();
    throw error;
  }
}

function forgetWhatIsGone({ installations }: RouteTable, metrics: GatewayMetrics, attempts: AttemptRecorder): void {
  installations.onChange((change) => {
    if (change.type === 'added') return;
    const before = change.type === 'modified' ? change.previous : change.object;
    const left = new Set(change.type === 'modified' ? change.object.status?.gateway?.routes?.map(({ version }) => version) : []);
    const { metadata, spec, status } = before;
    for (const { version } of status?.gateway?.routes ?? [])
      if (!left.has(version)) metrics.forget(metadata.namespace!, spec.plugin, version);
    if (change.type !== 'deleted') return;
    metrics.forgetInstallation(metadata.namespace!, spec.plugin);
    attempts.forget(metadata.namespace!, spec.plugin);
  });
}
