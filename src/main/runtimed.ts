import { createServer } from 'node:http';
import { Command } from 'commander';
import { RUNTIME_PORT, RUNTIMED_HEALTH_PORT, RUNTIMED_METRICS_PORT, WORKSPACE_PATH } from '../api/kruntimes.io/v1alpha1/names.ts';
import { startRuntimed } from '../areas/runs/runtimed/start-runtimed.ts';
import { createClient } from '../client/client.ts';
import { connectInCluster } from '../client/config/connect.ts';
import { realClock } from '../lib/clock.ts';
import { createLog } from '../lib/log.ts';
import { MetricsRegistry } from '../lib/metrics.ts';
import { reportFailure } from './report-failure.ts';

interface Flags {
  runtimeName: string;
  runtimeEndpoint: string;
  isolation: string;
  network: boolean;
  healthProbeBindAddress: string;
  metricsBindAddress: string;
  drainSeconds: string;
}

const { HOSTNAME, POD_NAME, POD_NAMESPACE, POD_IP, TENANTRY_ROOT = '' } = process.env;

/** `runtimed`, the program of the image `tenantry.dev/runtimed`: takes the Runs of the Pod it is in. */
async function main(flags: Flags): Promise<void> {
  const log = createLog({ level: 'info', format: 'json', write: (line) => process.stderr.write(line) });
  const metrics = new MetricsRegistry();
  const folder = `${TENANTRY_ROOT}/var/run/secrets/kubernetes.io/serviceaccount`;
  const { transport, namespace } = await connectInCluster(process.env, { folder, userAgent: 'runtimed' });
  const runtimed = await startRuntimed({
    client: createClient(transport),
    namespace: POD_NAMESPACE ?? namespace,
    podName: POD_NAME ?? HOSTNAME ?? '',
    runtimeName: flags.runtimeName,
    runtimeEndpoint: flags.runtimeEndpoint,
    folders: { ours: `${TENANTRY_ROOT}${WORKSPACE_PATH}`, theirs: WORKSPACE_PATH, artifacts: false },
    isolation: flags.isolation,
    network: flags.network,
    print: (line) => process.stdout.write(line),
    metrics,
    clock: realClock,
    log,
  });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= runtimed.stop(Number(flags.drainSeconds) * 1000));
  serve(flags.healthProbeBindAddress, async (path) => {
    if (path === '/healthz') return { status: 200, text: 'ok\n' };
    if (path === '/drained') {
      // Asked by the hook that keeps the Runtime Server alive for as long as there are Runs.
      await stop();
      return { status: 200, text: 'drained\n' };
    }
    const { ready, message } = await runtimed.isReady();
    return path === '/readyz' ? { status: ready ? 200 : 503, text: `${message}\n` } : { status: 404, text: 'not found\n' };
  });
  serve(flags.metricsBindAddress, async () => ({ status: 200, text: metrics.expose() }));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      stop().then(
        // A moment for the answer to whoever waits for the last Run.
        () => setTimeout(() => process.exit(0), 100),
        () => process.exit(1),
      );
    });
  }
}

/** `:9094` and `host:9094` both; without a host the Pod's own address, which may share its machine's network with others. */
function serve(address: string, answer: (path: string) => Promise<{ status: number; text: string }>): void {
  const at = address.lastIndexOf(':');
  const server = createServer((request, response) => {
    answer(request.url ?? '/').then(
      ({ status, text }) => response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(Number(address.slice(at + 1)), address.slice(0, at) || POD_IP);
}

new Command('runtimed')
  .requiredOption('--runtime-name <name>', 'whose Runs to take')
  .option('--runtime-endpoint <address>', 'where the Runtime Server listens', `${POD_IP ?? 'localhost'}:${RUNTIME_PORT}`)
  .option('--isolation <kind>', 'what Runs are given: shared or process', '')
  .option('--network', 'let Runs in `process` isolation reach the network', false)
  .option('--workers <count>', 'accepted for compatibility: the capacity is read from the Pod')
  .option('--health-probe-bind-address <address>', 'where /healthz and /readyz are', `:${RUNTIMED_HEALTH_PORT}`)
  .option('--metrics-bind-address <address>', 'where /metrics is', `:${RUNTIMED_METRICS_PORT}`)
  .option('--drain-seconds <seconds>', 'how long Runs may go on when the Pod is told to go', '300')
  .action(main)
  .parseAsync()
  .catch((error: unknown) => reportFailure('runtimed', error));
