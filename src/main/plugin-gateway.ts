import { parseArgs } from 'node:util';
import { startGateway } from '../areas/plugins/gateway/start-gateway.ts';
import { createClient } from '../client/client.ts';
import { connectContext } from '../client/config/connect.ts';
import { loadKubeconfig } from '../client/config/kubeconfig-file.ts';
import { resolveContext } from '../client/config/kubeconfig.ts';
import { realClock } from '../lib/clock.ts';
import { createLog, LOG_LEVELS, type LogLevel } from '../lib/log.ts';
import { MetricsRegistry } from '../lib/metrics.ts';
import type { GatewayMessage, SupervisorMessage } from './gateway-supervisor.ts';
import { serveHealth } from './on-kubernetes.ts';
import { productVersion } from './product-version.ts';

// It lives as long as `up`.
process.on('disconnect', () => process.exit(0));
if (process.connected === false) process.exit(0);
// Ctrl-C is for `up`, which tells.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

/** The gateway of `up`: started by it with the first plugin, never by a user, who has `tenantry gateway`. */
const flags = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '0' },
    'free-port': { type: 'boolean', default: false },
    'log-level': { type: 'string', default: 'warn' },
    'log-format': { type: 'string', default: 'json' },
  },
}).values;
if (flags.kubeconfig === undefined) throw new Error('Cannot start the gateway: it needs --kubeconfig; use `tenantry gateway` instead');
const level = LOG_LEVELS.find((candidate): candidate is LogLevel => candidate === flags['log-level']) ?? 'warn';
const log = createLog({ level, format: flags['log-format'] === 'pretty' ? 'pretty' : 'json' }).with({ process: 'gateway' });
const context = resolveContext(await loadKubeconfig({ path: flags.kubeconfig }));
const client = createClient(await connectContext(context, { userAgent: `tenantry-gateway/${productVersion()}` }));
const metrics = new MetricsRegistry();
const gateway = await startGateway({ client, clock: realClock, log, metrics, instance: 'up' });
const port = await gateway.listen(flags.host, Number(flags.port)).catch((error: NodeJS.ErrnoException) => {
  if (error.code !== 'EADDRINUSE' || !flags['free-port']) throw error;
  return gateway.listen(flags.host, 0);
});
const health = await serveHealth('127.0.0.1:0', metrics, new Map([['gateway', 'leading']]));

process.on('message', (message: SupervisorMessage) => {
  if (message.type === 'stop') void gateway.stop().finally(() => process.exit(0));
  else gateway.listen(message.host, message.port).catch((error: unknown) => log.error('cannot listen for Pods', { error, ...message }));
});
const ready: GatewayMessage = { type: 'ready', port, metricsPort: (health.address() as { port: number }).port };
process.send?.(ready);
