import { RunKind, type Run } from '../api/kruntimes.io/v1alpha1/run.ts';
import { attemptOf, phaseOf } from '../api/kruntimes.io/v1alpha1/run-state.ts';
import { isStatusError } from '../kube/status.ts';
import { randomSuffix } from '../lib/ids.ts';
import type { Cluster } from './cluster.ts';
import { artifactInfo } from './artifacts/artifact-references.ts';
import { exitCodeOf } from './exit-code.ts';
import { runOutput } from './output/follow-output.ts';
import { outputPorts } from './output/output-ports.ts';
import { storedOutput } from './output/stored-output.ts';
import { runManifest } from './run-manifest.ts';
import { waitForEnd } from './run-updates.ts';
import type { CallOptions, OutputChunk, RunHandle, RunOptions, RunRequest, RunResult, Runs } from './runs-api.ts';

const FIELD_MANAGER = 'tenantry-sdk';

/** The Runs of a namespace of a cluster. Connects with the first call. */
export function runsOf(open: () => Promise<Cluster>, namespace?: string): Runs {
  let opened: Promise<Cluster> | undefined;
  const cluster = async (): Promise<Cluster & { namespace: string }> => {
    opened ??= open();
    const found = await opened.catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return { ...found, namespace: namespace ?? found.namespace };
  };
  const runs: Runs = {
    submit: async (request, options = {}) => submit(await cluster(), request, options),
    run: async (request, options = {}) => runToEnd(await cluster(), request, options),
    async get(name, options) {
      const found = await cluster();
      return new SubmittedRun(found, await found.client.resource(RunKind, found.namespace).get(name, options));
    },
    async list({ signal, runtime, phase, labels } = {}) {
      const { client, namespace } = await cluster();
      const fieldSelector = runtime === undefined ? undefined : `spec.runtime=${runtime}`;
      const { items } = await client.resource(RunKind, namespace).listAll({ signal, fieldSelector, labelSelector: labels });
      return phase === undefined ? items : items.filter((run) => phaseOf(run) === phase);
    },
    in: (other) => runsOf(() => (opened ??= open()), other),
    async close() {
      const found = await opened?.catch(() => undefined);
      opened = undefined;
      await found?.client.close();
    },
  };
  return runs;
}

/** Makes the Run of a request. @throws StatusError when it is refused */
export async function createRun(cluster: Cluster, request: RunRequest, options: CallOptions & { fieldManager: string }): Promise<Run> {
  const manifest = runManifest(request, `run-${randomSuffix(8)}`);
  return cluster.client.resource(RunKind, cluster.namespace).create(manifest, { ...options, fieldValidation: 'Strict' });
}

/** A merge patch of the one field: whatever else the Run has stays as it was written. */
export function requestCancel(cluster: Cluster, namespace: string, name: string, fieldManager: string): Promise<Run> {
  const patch = { spec: { cancelRequested: true } };
  return cluster.client.resource(RunKind, namespace).patch(name, { type: 'merge', patch }, { fieldManager });
}

async function submit(cluster: Cluster, request: RunRequest, { signal }: CallOptions): Promise<SubmittedRun> {
  const run = await createRun(cluster, request, { signal, fieldManager: FIELD_MANAGER });
  return new SubmittedRun(cluster, run);
}

async function runToEnd(cluster: Cluster, request: RunRequest, { signal, onOutput }: RunOptions): Promise<RunResult> {
  signal?.throwIfAborted();
  const handle = await submit(cluster, request, {});
  let cancelling: Promise<unknown> | undefined;
  const onAbort = (): void => void (cancelling ??= handle.cancel().catch(() => {}));
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  try {
    if (onOutput !== undefined) for await (const chunk of handle.output({ signal })) onOutput(chunk);
    return await handle.result({ signal });
  } catch (error) {
    // Nobody should hear of the end before it was asked for.
    await cancelling;
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

class SubmittedRun implements RunHandle {
  readonly name: string;
  readonly namespace: string;
  readonly #cluster: Cluster;
  /** As it was first seen: what follows is watched from there. */
  readonly #known: Run;

  constructor(cluster: Cluster, known: Run) {
    this.#cluster = cluster;
    this.name = known.metadata.name!;
    this.namespace = known.metadata.namespace!;
    this.#known = known;
  }

  output({ signal }: CallOptions = {}): AsyncGenerator<OutputChunk, void, void> {
    return runOutput(this.#known, outputPorts(this.#cluster, this.namespace), { follow: true, signal });
  }

  async result({ signal }: CallOptions = {}): Promise<RunResult> {
    const ended = await waitForEnd(this.#cluster.client, this, { known: this.#known, signal });
    const stored = await storedOutput(ended, outputPorts(this.#cluster, this.namespace).configMapData);
    return {
      name: this.name,
      namespace: this.namespace,
      phase: phaseOf(ended),
      exitCode: exitCodeOf(ended),
      outputs: { ...ended.status?.outputs },
      log: stored?.text ?? '',
      message: ended.status?.message ?? '',
      attempts: attemptOf(ended),
      artifacts: (ended.status?.artifactRefs ?? []).map(artifactInfo),
    };
  }

  get({ signal }: CallOptions = {}): Promise<Run> {
    return this.#cluster.client.resource(RunKind, this.namespace).get(this.name, { signal });
  }

  async cancel(): Promise<void> {
    await requestCancel(this.#cluster, this.namespace, this.name, FIELD_MANAGER);
  }

  async delete({ signal }: CallOptions = {}): Promise<void> {
    try {
      await this.#cluster.client.resource(RunKind, this.namespace).delete(this.name, { signal });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }

  async download(artifact: string, file: string, options: Parameters<RunHandle['download']>[2] = {}) {
    const { downloadArtifact } = await import('./artifacts/download.ts');
    return downloadArtifact(this.#cluster, await this.get(options), artifact, file, options);
  }
}
