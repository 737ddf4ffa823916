import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Server } from '@grpc/grpc-js';
import { RunKind, type Run, type RunSpec } from '../../../src/api/kruntimes.io/v1alpha1/run.ts';
import { startRuntimed, type RunningRuntimed, type RuntimedArtifacts } from '../../../src/areas/runs/runtimed/start-runtimed.ts';
import { startRunScheduler } from '../../../src/areas/runs/scheduler/start-run-scheduler.ts';
import { Executions } from '../../../src/areas/runs/servers/executions.ts';
import { LANGUAGES } from '../../../src/areas/runs/servers/language.ts';
import { listen, runtimeService } from '../../../src/areas/runs/servers/runtime-service.ts';
import { createSharedLauncher } from '../../../src/areas/runs/servers/shared-launcher.ts';
import { createClient, type Client } from '../../../src/client/client.ts';
import { connectContext } from '../../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../../src/client/config/kubeconfig.ts';
import { Pod } from '../../../src/client/kinds.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { MetricsRegistry } from '../../../src/lib/metrics.ts';
import type { SpanSink } from '../../../src/lib/tracing/span.ts';
import { startEngine, type Engine } from '../../../src/main/engine.ts';
import { ownCustomResourceDefinitions } from '../../support/custom-resource-definitions.ts';

/** An engine, the scheduler of Runs, and Runtime Pods without a node: their programs run in this process, over real connections. */
export class RunsWorld {
  readonly client: Client;
  readonly #engine: Engine;
  readonly #data: string;
  readonly #scheduler: { stop(): Promise<void> };
  readonly #pods: RuntimePodHere[] = [];

  private constructor(engine: Engine, data: string, client: Client) {
    this.#engine = engine;
    this.#data = data;
    this.client = client;
    this.#scheduler = startRunScheduler({ client, clock: realClock, log: silentLog, metrics: new MetricsRegistry() });
  }

  static async start(): Promise<RunsWorld> {
    const data = mkdtempSync(join(tmpdir(), 'tenantry-runs-'));
    const options = { address: '127.0.0.1', port: 0, fallBackToFreePort: false, version: '0.0.0-test', log: silentLog };
    const engine = await startEngine({ ...options, data, areas: ownCustomResourceDefinitions });
    const context = resolveContext(await loadKubeconfig({ path: engine.kubeconfig }));
    return new RunsWorld(engine, data, createClient(await connectContext(context)));
  }

  /** A Runtime Pod for bash that takes so many Runs. */
  async pod(name: string, places: number, artifacts?: RuntimedArtifacts, spans?: SpanSink): Promise<RuntimePodHere> {
    await this.client.resource(Pod, 'default').create({
      metadata: { name, labels: { runtime: 'here' }, annotations: { 'kruntimes.io/capacity.runs': String(places) } },
      spec: { containers: [{ name: 'runtime', image: 'example/none' }], schedulerName: 'nobody' },
    });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await this.client.resource(Pod, 'default').status.patch(name, { type: 'merge', patch: { status } });
    const pod = new RuntimePodHere(this.client, name, join(this.#data, 'workspaces', name), artifacts, spans);
    await pod.startServer();
    await pod.startRuntimed();
    this.#pods.push(pod);
    return pod;
  }

  create(name: string, script: string, spec: Partial<RunSpec> = {}, annotations?: Record<string, string>): Promise<Run> {
    const run = { metadata: { name, annotations }, spec: { runtime: 'here', mode: { task: { args: [script] } }, ...spec } };
    return this.client.resource(RunKind, 'default').create(run);
  }

  get(name: string): Promise<Run> {
    return this.client.resource(RunKind, 'default').get(name);
  }

  /** The Run as soon as it is as wanted. */
  async until(name: string, wanted: (run: Run) => boolean, ms = 15_000): Promise<Run> {
    const signal = AbortSignal.timeout(ms);
    const first = await this.get(name);
    if (wanted(first)) return first;
    const runs = this.client.resource(RunKind, 'default');
    for await (const update of runs.watch({
      fieldSelector: `metadata.name=${name}`,
      resourceVersion: first.metadata.resourceVersion,
      signal,
    })) {
      if ('object' in update && wanted(update.object)) return update.object;
    }
    throw new Error(`Run "${name}" did not become as wanted: ${JSON.stringify((await this.get(name)).status)}`);
  }

  ended(name: string, ms?: number): Promise<Run> {
    return this.until(name, ({ status }) => status?.completionTime !== undefined, ms);
  }

  patch(name: string, spec: Partial<RunSpec>): Promise<Run> {
    return this.client.resource(RunKind, 'default').patch(name, { type: 'merge', patch: { spec } });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#pods.map((pod) => pod.stop()));
    await this.#scheduler.stop();
    await this.#engine.stop();
    rmSync(this.#data, { recursive: true, force: true });
  }
}

/** The two programs of a Runtime Pod. Each can be ended and started again on its own. */
export class RuntimePodHere {
  readonly name: string;
  readonly workspace: string;
  readonly lines: string[] = [];
  readonly #client: Client;
  #server: { server: Server; executions: Executions; port: number } | undefined;
  readonly #artifacts: RuntimedArtifacts | undefined;
  readonly #spans: SpanSink | undefined;
  readonly #namespace: string;
  #runtimed: RunningRuntimed | undefined;

  constructor(client: Client, name: string, workspace: string, artifacts?: RuntimedArtifacts, spans?: SpanSink, namespace = 'default') {
    this.#namespace = namespace;
    this.#artifacts = artifacts;
    this.#spans = spans;
    this.#client = client;
    this.name = name;
    this.workspace = workspace;
  }

  async startServer(): Promise<void> {
    const language = LANGUAGES.bash;
    const launcher = createSharedLauncher({ language, baseEnv: { PATH: process.env['PATH'] ?? '' }, warmWorkers: 2 });
    const executions = new Executions({ language, launcher, clock: realClock });
    const server = runtimeService({ executions, isolation: 'shared', health: () => ({ healthy: true, message: 'ok' }) });
    const port = await listen(server, `127.0.0.1:${this.#server?.port ?? 0}`);
    this.#server = { server, executions, port };
  }

  async startRuntimed(): Promise<void> {
    this.#runtimed = await startRuntimed({
      client: this.#client,
      namespace: this.#namespace,
      podName: this.name,
      runtimeName: 'here',
      runtimeEndpoint: `127.0.0.1:${this.#server!.port}`,
      folders: { ours: this.workspace, theirs: this.workspace },
      artifacts: this.#artifacts,
      statusAddress: '127.0.0.1:0',
      isolation: '',
      network: false,
      print: (line) => this.lines.push(line),
      metrics: new MetricsRegistry(),
      spans: this.#spans,
      clock: realClock,
      log: silentLog,
    });
  }

  get statusPort(): number {
    return this.#runtimed!.statusPort!;
  }

  /** As a crash would: what runs goes on. */
  async stopRuntimed(): Promise<void> {
    await this.#runtimed?.stop(0);
    this.#runtimed = undefined;
  }

  drain(ms: number): Promise<void> {
    return this.#runtimed!.stop(ms);
  }

  async stopServer(): Promise<void> {
    this.#server?.server.forceShutdown();
    await this.#server?.executions.close();
  }

  async stop(): Promise<void> {
    await this.stopRuntimed();
    await this.stopServer();
  }
}
