import { ARTIFACT_FINALIZER } from '../../../api/kruntimes.io/v1alpha1/names.ts';
import { RunKind, type Run, type RunStatus } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { phaseOf } from '../../../api/kruntimes.io/v1alpha1/run-state.ts';
import { PLACEMENT_FINALIZER } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { Client } from '../../../client/client.ts';
import { ConfigMap } from '../../../client/kinds.ts';
import { isStatusError } from '../../../kube/status.ts';
import { mergeDifference } from '../../../runtime/steps/merge-difference.ts';
import { copiedRunSpec, endedStatus, runCopy } from './model/run-copy.ts';
import type { RunMove } from './model/run-move.ts';

export interface RunPair {
  original?: Run;
  copy?: Run;
}

export interface RunWritesOptions {
  hostClient: Client;
  tenantClient: Client;
  tenant: string;
  cluster: string;
  now(): number;
}

/** The writes that moves of Runs are made of. Each is on the version that was decided on: a Conflict decides again. */
export class RunWrites {
  readonly #options: RunWritesOptions;

  constructor(options: RunWritesOptions) {
    this.#options = options;
  }

  /** @throws Status `Conflict` when something else came first */
  async make(move: RunMove, { original, copy }: RunPair): Promise<void> {
    switch (move.type) {
      case 'none':
        return;
      case 'take':
        return this.#take(original!);
      case 'create':
        return this.#create(original!);
      case 'adjust':
        return this.#adjust(original!, copy!);
      case 'report':
        await this.#bringLog(original!, copy!);
        return this.#writeStatus(original!, move.status);
      case 'giveBack':
        return this.#writeStatus(original!, move.status);
      case 'end':
        return this.#writeStatus(original!, endedStatus(original!, move.reason, move.message, new Date(this.#options.now())));
      case 'keepArtifacts':
        return free(this.#options.tenantClient, copy!, ARTIFACT_FINALIZER);
      case 'removeCopy':
        return this.#remove(copy!);
      case 'freeCopy':
        return free(this.#options.tenantClient, copy!);
      case 'freeOriginal':
        return free(this.#options.hostClient, original!);
    }
  }

  /** The finalizer first: from the second write on there may be a copy. */
  async #take(original: Run): Promise<void> {
    const runs = this.#options.hostClient.resource(RunKind, original.metadata.namespace);
    const held = original.metadata.finalizers ?? [];
    const { name } = original.metadata;
    let { resourceVersion } = original.metadata;
    if (!held.includes(PLACEMENT_FINALIZER)) {
      const patch = { metadata: { resourceVersion, finalizers: [...held, PLACEMENT_FINALIZER] } };
      ({ resourceVersion } = (await runs.patch(name!, { type: 'merge', patch })).metadata);
    }
    const status = { phase: phaseOf(original), placedIn: this.#options.cluster };
    await runs.status.patch(name!, { type: 'merge', patch: { metadata: { resourceVersion }, status } });
  }

  async #create(original: Run): Promise<void> {
    const { tenantClient, tenant } = this.#options;
    try {
      await tenantClient.resource(RunKind, original.metadata.namespace).create(runCopy(original, tenant));
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error;
    }
  }

  async #adjust(original: Run, copy: Run): Promise<void> {
    const spec = mergeDifference(copy.spec, copiedRunSpec(original.spec)) as object;
    const patch = { metadata: { resourceVersion: copy.metadata.resourceVersion }, spec };
    await this.#options.tenantClient.resource(RunKind, copy.metadata.namespace).patch(copy.metadata.name!, { type: 'merge', patch });
  }

  async #writeStatus(original: Run, status: RunStatus): Promise<void> {
    const { name, namespace, resourceVersion } = original.metadata;
    const difference = mergeDifference(original.status ?? {}, status);
    if (difference === undefined) return;
    const patch = { metadata: { resourceVersion }, status: difference as RunStatus };
    await this.#options.hostClient.resource(RunKind, namespace).status.patch(name!, { type: 'merge', patch });
  }

  /** More than the status has room for is in a ConfigMap, which goes with the copy. */
  async #bringLog(original: Run, copy: Run): Promise<void> {
    const logName = copy.status?.log?.configMapName;
    if (logName === undefined || original.status?.log?.configMapName === logName) return;
    const { hostClient, tenantClient } = this.#options;
    const { name, namespace, uid } = original.metadata;
    const ownerReferences = [{ apiVersion: original.apiVersion, kind: original.kind, name: name!, uid: uid! }];
    try {
      const { data } = await tenantClient.resource(ConfigMap, namespace).get(logName);
      await hostClient.resource(ConfigMap, namespace).create({ metadata: { name: logName, namespace, ownerReferences }, data });
    } catch (error) {
      // One of that name is ours already, or somebody else's, which stays; and what is gone inside is gone.
      if (!isStatusError(error, 'AlreadyExists') && !isStatusError(error, 'NotFound')) throw error;
    }
  }

  async #remove({ metadata: { namespace, name, uid, resourceVersion } }: Run): Promise<void> {
    try {
      await this.#options.tenantClient.resource(RunKind, namespace).delete(name!, { preconditions: { uid, resourceVersion } });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }
}

async function free(client: Client, { metadata }: Run, finalizer = PLACEMENT_FINALIZER): Promise<void> {
  const { namespace, resourceVersion } = metadata;
  const finalizers = (metadata.finalizers ?? []).filter((name) => name !== finalizer);
  if (finalizers.length === metadata.finalizers?.length) return;
  try {
    await client
      .resource(RunKind, namespace)
      .patch(metadata.name!, { type: 'merge', patch: { metadata: { resourceVersion, finalizers } } });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}
