import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ArtifactStore } from '../../../api/kruntimes.io/v1alpha1/artifact-store.ts';
import { RunKind, type Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import type { Client } from '../../../client/client.ts';
import { ConfigMap, Pod, Secret } from '../../../client/kinds.ts';
import { isStatusError } from '../../../kube/status.ts';
import { longLivedController } from '../../../lib/abort.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { MetricsRegistry } from '../../../lib/metrics.ts';
import type { SpanSink } from '../../../lib/tracing/span.ts';
import { EventRecorder } from '../../../runtime/event-recorder.ts';
import { capacityOf } from '../../../api/kruntimes.io/v1alpha1/capacity.ts';
import { collectArtifacts, newArchivesName, removeOldArchives, type ArtifactLimits } from '../artifacts/collect-artifacts.ts';
import type { ArtifactStoreDriver } from '../artifacts/artifact-store.ts';
import { storeArtifacts } from '../artifacts/store-artifacts.ts';
import { listen } from '../protocol/listen.ts';
import { stepTracer } from '../tracing/attempt-spans.ts';
import { traceparentOf } from '../tracing/run-trace.ts';
import { DiscardedFolders } from '../discarded-folders.ts';
import { isPassing } from '../patience.ts';
import { writeRunStatus } from '../write-run-status.ts';
import { gitSource } from './git-source.ts';
import { beat } from './heartbeat.ts';
import { readOutputs } from './outputs.ts';
import { runEnvironment } from './run-environment.ts';
import type { RunWorkerPorts } from './run-worker.ts';
import { connectRuntime } from './runtime-client.ts';
import { runtimeKey } from './runtime-key.ts';
import { Runtimed } from './runtimed.ts';
import { runtimedMetrics } from './runtimed-metrics.ts';
import { statusService } from './status-service.ts';
import { removeFolder } from './remove-folder.ts';
import { outputsOf, prepareSource, type SourceFolders } from './source.ts';

/** Beside the folders of Runs: where those go that are removed. */
const DISCARDED = '.discarded';

export interface RuntimedStart {
  client: Client;
  namespace: string;
  podName: string;
  runtimeName: string;
  runtimeEndpoint: string;
  folders: Omit<SourceFolders, 'artifacts'>;
  /** Where no Run can reach; the one for temporary files by default. */
  ownFolder?: string;
  /** Where artifacts go; undefined: Runs leave none. */
  artifacts?: RuntimedArtifacts;
  /** Where the status service listens; undefined: nowhere. */
  statusAddress?: string;
  isolation: string;
  network: boolean;
  print(line: string): void;
  metrics: MetricsRegistry;
  /** Who is told what is done for each Run; undefined: nobody. */
  spans?: SpanSink;
  clock: Clock;
  log: Log;
}

export interface RuntimedArtifacts {
  store: ArtifactStoreDriver;
  description: ArtifactStore;
  limits: ArtifactLimits;
}

export interface RunningRuntimed {
  /** Where the status service listens. */
  statusPort?: number;
  /** Whether Runs are taken. */
  isReady(): Promise<{ ready: boolean; message: string }>;
  /** Whether the Pod has been told to go. */
  isGoing(): Promise<boolean>;
  /** Lets the Runs that are here end, for at most so long, then stops. */
  stop(drainMs: number): Promise<void>;
}

/** Starts to take Runs for this Pod. */
export async function startRuntimed(options: RuntimedStart): Promise<RunningRuntimed> {
  const { client, namespace, podName, folders, clock, log } = options;
  const abort = longLivedController();
  const runtime = connectRuntime(options.runtimeEndpoint, clock, runtimeKey(folders.ours));
  const pod = await client.resource(Pod, namespace).get(podName);
  const runtimed = new Runtimed({
    client,
    namespace,
    runtimeName: options.runtimeName,
    capacity: capacityOf(pod),
    runtime,
    worker: workerPorts(options, { name: podName, uid: pod.metadata.uid! }, runtime),
    clock,
    log,
  });
  let stopping = false;
  const isReady = async () => {
    if (stopping) return { ready: false, message: 'the Pod is going; it takes no new Runs' };
    try {
      const { healthy, message } = await runtime.health();
      return { ready: healthy, message };
    } catch (error) {
      return { ready: false, message: `the Runtime Server does not answer: ${error instanceof Error ? error.message : String(error)}` };
    }
  };
  if (options.artifacts !== undefined) await removeOldArchives(folders.ours);
  const working = runtimed.run(abort.signal).catch((error: unknown) => {
    if (!abort.signal.aborted) log.error('runtimed stopped', { error });
  });
  const service = statusService({
    namespace,
    runtimeName: options.runtimeName,
    runtime,
    artifacts: options.artifacts,
    isReachedByRuns: options.isolation === 'process' && options.network,
    readRun: (name) => absentIfNotFound(client.resource(RunKind, namespace).get(name)),
  });
  const statusPort = options.statusAddress === undefined ? undefined : await listen(service, options.statusAddress);
  const beating = beat({ client, namespace, pod: podName, isReady, clock, log }, abort.signal);
  return {
    isReady,
    async isGoing() {
      const now = await absentIfNotFound(client.resource(Pod, namespace).get(podName));
      return now === undefined || now.metadata.deletionTimestamp !== undefined;
    },
    statusPort,
    async stop(drainMs) {
      stopping = true;
      const patience = longLivedController();
      const timer = clock.setTimer(drainMs, () => patience.abort());
      await runtimed.drain(patience.signal);
      timer.cancel();
      abort.abort();
      await Promise.all([working, beating]);
      service.forceShutdown();
      runtime.close();
    },
  };
}

function workerPorts(options: RuntimedStart, pod: { name: string; uid: string }, runtime: RunWorkerPorts['runtime']): RunWorkerPorts {
  const { client, namespace, artifacts, clock, log } = options;
  const folders = { ...options.folders, artifacts: artifacts !== undefined };
  const secret = (name: string) =>
    absentIfNotFound(client.resource(Secret, namespace).get(name)).then((found) => found && decoded(found.data));
  const configMap = (name: string) =>
    absentIfNotFound(client.resource(ConfigMap, namespace).get(name)).then((found) => found && (found.data ?? {}));
  const fetch = gitSource({ credentials: secret, folder: options.ownFolder ?? tmpdir() });
  const discarded = new DiscardedFolders(join(folders.ours, DISCARDED), removeFolder);
  // What a runtimed before us did not come to. Nobody waits for it.
  discarded.empty().catch(() => {});
  const events = new EventRecorder({ client, log, controller: 'runtimed', instance: pod.name });
  return {
    pod,
    runtime,
    clock,
    log,
    metrics: runtimedMetrics(options.metrics),
    isolation: { isolation: options.isolation, network: options.network },
    print: options.print,
    writeStatus: (run, status) => writeRunStatus(client, run, status),
    read: (run) => absentIfNotFound(client.resource(RunKind, namespace).get(run.metadata.name!)),
    environment: (run) => runEnvironment(run, { secret, configMap }, traceparentOf(run, options.spans !== undefined)),
    trace: stepTracer(options.spans, clock),
    prepare: (run, signal) => prepareSource(run, folders, fetch, signal),
    readOutputs: (run) => readOutputs(folders.ours, outputsOf(run)),
    storeArtifacts: artifacts && artifactsOf(client, artifacts, folders, { clock, log }),
    cleanUp: (uid) => discarded.discard(join(folders.ours, uid)),
    keepLog: (run, text) => keepLog(client, run, text),
    event: (run, type, reason, message) => events.record(run, { type, reason, message }),
  };
}

function artifactsOf(
  client: Client,
  { store, description, limits }: RuntimedArtifacts,
  folders: SourceFolders,
  { clock, log }: { clock: Clock; log: Log },
): RunWorkerPorts['storeArtifacts'] {
  const runs = (run: Run) => client.resource(RunKind, run.metadata.namespace);
  return (run, signal) => {
    const places = { root: folders.ours, names: [run.metadata.uid!, 'artifacts'], archives: newArchivesName() };
    return storeArtifacts(
      run,
      {
        store,
        description,
        collect: () => collectArtifacts(places, limits, signal),
        writeStatus: (now, status) => writeRunStatus(client, now, status),
        writeFinalizers: (now, finalizers) => {
          const { name, resourceVersion } = now.metadata;
          return runs(now).patch(name!, { type: 'merge', patch: { metadata: { resourceVersion, finalizers } } });
        },
        read: (now) => absentIfNotFound(runs(now).get(now.metadata.name!)),
        clock,
        log,
      },
      signal,
    );
  };
}

/** In a ConfigMap that goes with the Run. */
async function keepLog(client: Client, run: Run, text: string): Promise<string | undefined> {
  const { name, namespace, uid } = run.metadata;
  const logName = `${name!.slice(0, 240)}-log`;
  const owner = { apiVersion: run.apiVersion, kind: run.kind, name: name!, uid: uid! };
  const object = { metadata: { name: logName, namespace, ownerReferences: [owner] }, data: { log: text } };
  const maps = client.resource(ConfigMap, namespace);
  try {
    await maps.create(object);
  } catch (error) {
    if (isPassing(error)) throw error;
    if (!isStatusError(error, 'AlreadyExists')) return undefined;
    const existing = await maps.get(logName);
    // Somebody else's is left alone.
    if (existing.metadata.ownerReferences?.[0]?.uid !== uid) return undefined;
    await maps.patch(logName, { type: 'merge', patch: { data: object.data } });
  }
  return logName;
}

async function absentIfNotFound<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}

function decoded(data: Record<string, string> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]));
}
