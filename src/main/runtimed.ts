import { createServer } from 'node:http';
import { Command, Option } from 'commander';
import type { ArtifactStore } from '../api/kruntimes.io/v1alpha1/artifact-store.ts';
import {
  ARTIFACT_PATH,
  RUNTIME_PORT,
  RUNTIMED_HEALTH_PORT,
  RUNTIMED_METRICS_PORT,
  RUNTIMED_STATUS_PORT,
  WORKSPACE_PATH,
} from '../api/kruntimes.io/v1alpha1/names.ts';
import { DEFAULT_ARTIFACT_LIMITS } from '../areas/runs/artifacts/collect-artifacts.ts';
import { openStore } from '../areas/runs/artifacts/open-store.ts';
import { s3FromFlags } from '../areas/runs/artifacts/store-flags.ts';
import { startRuntimed, type RuntimedArtifacts } from '../areas/runs/runtimed/start-runtimed.ts';
import { createClient } from '../client/client.ts';
import { connectInCluster } from '../client/config/connect.ts';
import { realClock } from '../lib/clock.ts';
import { createLog, type Log } from '../lib/log.ts';
import { MetricsRegistry } from '../lib/metrics.ts';
import { exporterSettings, type ExporterSettings } from '../lib/tracing/exporter-settings.ts';
import { OtlpExporter } from '../lib/tracing/otlp-exporter.ts';
import { reachableCollector } from '../lib/tracing/reachable-collector.ts';
import { reportFailure } from './report-failure.ts';

interface Flags {
  runtimeName: string;
  runtimeEndpoint: string;
  isolation: string;
  network: boolean;
  healthProbeBindAddress: string;
  metricsBindAddress: string;
  drainSeconds: string;
  statusAddr: string;
  artifactStoreDriver?: 'filesystem' | 's3';
  artifactStoreRoot: string;
  artifactVolumeClaim?: string;
  artifactS3Bucket?: string;
  artifactS3Prefix?: string;
  artifactS3Region?: string;
  artifactS3Endpoint?: string;
  artifactS3ForcePathStyle?: boolean;
  artifactS3CredentialsSecretName?: string;
  artifactS3UploadPartSize?: string;
  artifactS3UploadConcurrency?: string;
  maxArtifactBytes: string;
  maxArtifactsBytes: string;
}

const { HOSTNAME, HOST_IP, POD_NAME, POD_NAMESPACE, POD_IP, TENANTRY_ROOT = '' } = process.env;

/** `runtimed`, the program of the image `tenantry.dev/runtimed`: takes the Runs of the Pod it is in. */
async function main(flags: Flags): Promise<void> {
  const log = createLog({ level: 'info', format: 'json', write: (line) => process.stderr.write(line) });
  const metrics = new MetricsRegistry();
  const spans = exporterTo(exporterSettings(process.env, 'runtimed'), log, metrics);
  const folder = `${TENANTRY_ROOT}/var/run/secrets/kubernetes.io/serviceaccount`;
  const { transport, namespace } = await connectInCluster(process.env, { folder, userAgent: 'runtimed' });
  const runtimed = await startRuntimed({
    client: createClient(transport),
    namespace: POD_NAMESPACE ?? namespace,
    podName: POD_NAME ?? HOSTNAME ?? '',
    runtimeName: flags.runtimeName,
    runtimeEndpoint: flags.runtimeEndpoint,
    folders: { ours: `${TENANTRY_ROOT}${WORKSPACE_PATH}`, theirs: WORKSPACE_PATH },
    artifacts: artifactsOf(flags),
    statusAddress: addressOf(flags.statusAddr),
    isolation: flags.isolation,
    network: flags.network,
    print: (line) => process.stdout.write(line),
    metrics,
    spans,
    clock: realClock,
    log,
  });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= runtimed.stop(Number(flags.drainSeconds) * 1000).then(() => spans?.close()));
  serve(flags.healthProbeBindAddress, async (path) => {
    if (path === '/healthz') return { status: 200, text: 'ok\n' };
    if (path === '/drained') {
      // Asked by the hook that keeps the Runtime Server alive for as long as there are Runs, and perhaps by a Run: only a Pod that goes drains.
      if (await runtimed.isGoing()) await stop();
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

function exporterTo(settings: ExporterSettings | undefined, log: Log, metrics: MetricsRegistry): OtlpExporter | undefined {
  if (settings === undefined) return undefined;
  return new OtlpExporter({ ...settings, url: reachableCollector(settings.url, POD_IP, HOST_IP), clock: realClock, log, metrics });
}

function artifactsOf(flags: Flags): RuntimedArtifacts | undefined {
  if (flags.artifactStoreDriver === undefined) return undefined;
  const description = storeOf(flags.artifactStoreDriver, flags);
  return {
    description,
    store: openStore(description, { root: `${TENANTRY_ROOT}${flags.artifactStoreRoot}`, environment: process.env, clock: realClock }),
    limits: { artifactBytes: Number(flags.maxArtifactBytes), artifactsBytes: Number(flags.maxArtifactsBytes) },
  };
}

function storeOf(driver: 'filesystem' | 's3', flags: Flags): ArtifactStore {
  if (driver === 'filesystem') return { driver, filesystem: { volumeClaimName: flags.artifactVolumeClaim ?? '' } };
  return {
    driver,
    s3: s3FromFlags({
      bucket: flags.artifactS3Bucket,
      prefix: flags.artifactS3Prefix,
      region: flags.artifactS3Region,
      endpoint: flags.artifactS3Endpoint,
      forcePathStyle: flags.artifactS3ForcePathStyle,
      credentialsSecretName: flags.artifactS3CredentialsSecretName,
      uploadPartSize: flags.artifactS3UploadPartSize,
      uploadConcurrency: flags.artifactS3UploadConcurrency,
    }),
  };
}

/** As gRPC takes it. */
function addressOf(address: string): string {
  const at = address.lastIndexOf(':');
  const host = address.slice(0, at) || POD_IP || '0.0.0.0';
  return `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${address.slice(at + 1)}`;
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
  .option('--status-addr <address>', 'where the status and artifact services are', `:${RUNTIMED_STATUS_PORT}`)
  .addOption(new Option('--artifact-store-driver <driver>', 'where artifacts go').choices(['filesystem', 's3']))
  .option('--artifact-store-root <folder>', 'where the volume for artifacts is mounted', ARTIFACT_PATH)
  .option('--artifact-volume-claim <name>', 'the claim of that volume')
  .option('--artifact-s3-bucket <name>', 'the bucket for artifacts')
  .option('--artifact-s3-prefix <prefix>', 'what keys in it begin with')
  .option('--artifact-s3-region <region>', 'the region of the bucket')
  .option('--artifact-s3-endpoint <url>', 'where the bucket is, if not at Amazon')
  .option('--artifact-s3-force-path-style', 'the bucket in the path, not in the host name')
  .option('--artifact-s3-credentials-secret-name <name>', 'which Secret the credentials in the environment come from')
  .option('--artifact-s3-upload-part-size <bytes>', 'how much is sent at once')
  .option('--artifact-s3-upload-concurrency <count>', 'how many parts at once')
  .option('--max-artifact-bytes <bytes>', 'of one artifact', String(DEFAULT_ARTIFACT_LIMITS.artifactBytes))
  .option('--max-artifacts-bytes <bytes>', 'of all artifacts of a Run', String(DEFAULT_ARTIFACT_LIMITS.artifactsBytes))
  .option('--drain-seconds <seconds>', 'how long Runs may go on when the Pod is told to go', '300')
  .action(main)
  .parseAsync()
  .catch((error: unknown) => reportFailure('runtimed', error));
