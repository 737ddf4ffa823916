import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Server } from '@grpc/grpc-js';
import { RunKind, type Run, type RunSpec } from '../../../src/api/kruntimes.io/v1alpha1/run.ts';
import { startRuntimed, type RunningRuntimed, type RuntimedArtifacts } from '../../../src/areas/runs/runtimed/start-runtimed.ts';
import { Executions } from '../../../src/areas/runs/servers/executions.ts';
import { LANGUAGES } from '../../../src/areas/runs/servers/language.ts';
import { listen, runtimeService } from '../../../src/areas/runs/servers/runtime-service.ts';
import { createClient, type Client } from '../../../src/client/client.ts';
import { connectContext } from '../../../src/client/config/connect.ts';
import { loadKubeconfig } from '../../../src/client/config/kubeconfig-file.ts';
import { resolveContext } from '../../../src/client/config/kubeconfig.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { realClock, type Clock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { MetricsRegistry } from '../../../src/lib/metrics.ts';
import { ScriptedRuns } from '../../integration/runs/scripted-runs.ts';
import { BreakableTransport } from './breakable-transport.ts';
import { CountedPrograms } from './counted-programs.ts';

/** An API server, and processes around it that can be killed at any point: each has a connection of its own. */
export class BreakableRuns {
  readonly scripted: ScriptedRuns;
  readonly programs = new CountedPrograms();
  readonly folder = mkdtempSync(join(tmpdir(), 'tenantry-breakable-'));
  readonly #transport: Transport;
  readonly #pods: BreakablePod[] = [];

  private constructor(scripted: ScriptedRuns, transport: Transport) {
    this.scripted = scripted;
    this.#transport = transport;
  }

  static async start(): Promise<BreakableRuns> {
    const scripted = await ScriptedRuns.start();
    const context = resolveContext(await loadKubeconfig({ path: scripted.target.kubeconfig }));
    return new BreakableRuns(scripted, await connectContext(context));
  }

  get client(): Client {
    return this.scripted.client;
  }

  connection(): BreakableTransport {
    return new BreakableTransport(this.#transport);
  }

  /** A ready Pod of the Runtime `here` with its two programs. */
  async pod(name: string, places: number, options: { clock?: Clock; artifacts?: RuntimedArtifacts } = {}): Promise<BreakablePod> {
    const { uid } = await this.scripted.pod(name, {
      labels: { runtime: 'here' },
      annotations: { 'kruntimes.io/capacity.runs': String(places) },
    });
    const pod = new BreakablePod(this, { name, uid }, options);
    this.#pods.push(pod);
    await pod.startServer();
    await pod.startRuntimed();
    return pod;
  }

  create(name: string, program: string, spec: Partial<RunSpec> = {}): Promise<Run> {
    return this.scripted.run(name, { mode: { task: { args: [program] } }, ...spec });
  }

  /** Asked for by hand, whatever else is going on; a Run that is gone needs nothing. */
  async change(name: string, patch: object): Promise<void> {
    await this.client
      .resource(RunKind, 'default')
      .patch(name, { type: 'merge', patch })
      .catch(() => {});
  }

  async stop(): Promise<void> {
    await Promise.all(this.#pods.map((pod) => pod.stop()));
    await this.#transport.close();
    await this.scripted.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The two programs of a Runtime Pod. */
export class BreakablePod {
  readonly ref: { name: string; uid: string };
  readonly #world: BreakableRuns;
  readonly #options: { clock?: Clock; artifacts?: RuntimedArtifacts };
  #server: { server: Server; executions: Executions; port: number } | undefined;
  #runtimed: RunningRuntimed | undefined;
  /** Of the runtimed that runs now. */
  connection!: BreakableTransport;
  /** Called when the Runtime Server is asked, before and after it did what was asked for. */
  asked: (method: string, when: 'before' | 'after') => Promise<void> | void = () => {};
  /** What the next runtimed's connection does to requests. */
  before: BreakableTransport['before'] = () => undefined;

  constructor(world: BreakableRuns, ref: { name: string; uid: string }, options: { clock?: Clock; artifacts?: RuntimedArtifacts }) {
    this.#world = world;
    this.ref = ref;
    this.#options = options;
  }

  async startServer(): Promise<void> {
    const language = LANGUAGES.bash;
    const launcher = this.#world.programs.launcher(this.ref.name);
    const executions = new Executions({ language, launcher, clock: realClock });
    const server = runtimeService({
      executions: this.#observed(executions),
      isolation: 'shared',
      health: () => ({ healthy: true, message: 'ok' }),
    });
    const port = await listen(server, `127.0.0.1:${this.#server?.port ?? 0}`);
    this.#server = { server, executions, port };
  }

  /** As `kill -9` does it: its programs end with it. */
  async killServer(): Promise<void> {
    this.#server!.server.forceShutdown();
    await this.#server!.executions.close();
  }

  async startRuntimed(): Promise<void> {
    this.connection = this.#world.connection();
    this.connection.before = (request) => this.before(request);
    this.connection.copies = 2;
    const workspace = join(this.#world.folder, this.ref.name);
    this.#runtimed = await startRuntimed({
      client: createClient(this.connection),
      namespace: 'default',
      podName: this.ref.name,
      runtimeName: 'here',
      runtimeEndpoint: `127.0.0.1:${this.#server!.port}`,
      folders: { ours: workspace, theirs: workspace },
      artifacts: this.#options.artifacts,
      isolation: '',
      network: false,
      print() {},
      metrics: new MetricsRegistry(),
      clock: this.#options.clock ?? realClock,
      log: silentLog,
    });
  }

  /** Programs go on. Nothing that it has still to say reaches anybody. */
  async killRuntimed(): Promise<void> {
    const killed = this.#runtimed;
    this.connection.cut();
    this.#runtimed = undefined;
    await killed?.stop(0);
  }

  async stop(): Promise<void> {
    await this.killRuntimed();
    await this.killServer();
  }

  #observed(executions: Executions): Executions {
    return new Proxy(executions, {
      get: (target, name) => {
        const member = Reflect.get(target, name) as unknown;
        if (typeof member !== 'function') return member;
        if (name !== 'execute' && name !== 'cancel') return member.bind(target);
        return async (...args: unknown[]) => {
          await this.asked(name, 'before');
          const result: unknown = await Reflect.apply(member, target, args);
          await this.asked(name, 'after');
          return result;
        };
      },
    });
  }
}
