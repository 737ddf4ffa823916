import type { Client } from '../../../client/client.ts';
import { DaemonSet } from '../../../client/kinds.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import type { Kind } from '../../../kube/kind.ts';
import { isStatusError } from '../../../kube/status.ts';
import { inParallel } from './in-parallel.ts';
import { FIELD_MANAGER } from './owned-objects.ts';
import { resumePatch, SUSPENDABLE, suspendPatch } from './model/suspension.ts';

/**
 * The workloads of a tenant, read when something is to be done with all of them. That is rare, so nothing is kept of them in memory.
 */
export class TenantWorkloads {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** @returns how many were suspended now */
  async suspend(namespaces: readonly string[]): Promise<number> {
    let suspended = 0;
    for (const suspendable of SUSPENDABLE)
      suspended += await this.#patchEach(namespaces, suspendable.kind, (object) => suspendPatch(suspendable, object));
    return suspended;
  }

  /** Exactly what was suspended, in the opposite order. @returns how many */
  async resume(namespaces: readonly string[]): Promise<number> {
    let resumed = 0;
    for (const { kind } of SUSPENDABLE.toReversed()) resumed += await this.#patchEach(namespaces, kind, resumePatch);
    return resumed;
  }

  /** DaemonSets are told by their template which nodes they are for; Pods that contradict it would never be placed. */
  async patchDaemonSets(namespaces: readonly string[], patchOf: (object: KubeObject) => Json): Promise<void> {
    await this.#patchEach(namespaces, DaemonSet, patchOf);
  }

  async #patchEach(namespaces: readonly string[], kind: Kind, patchOf: (object: KubeObject) => Json): Promise<number> {
    let patched = 0;
    await inParallel(namespaces, async (namespace) => {
      for (const object of await this.#list(kind, namespace)) {
        const patch = patchOf(object);
        if (patch === undefined) continue;
        try {
          await this.#client
            .resource(kind, namespace)
            .patch(object.metadata.name!, { type: 'merge', patch }, { fieldManager: FIELD_MANAGER });
          patched++;
        } catch (error) {
          if (!isStatusError(error, 'NotFound')) throw error;
        }
      }
    });
    return patched;
  }

  async #list(kind: Kind, namespace: string): Promise<KubeObject[]> {
    try {
      return (await this.#client.resource(kind, namespace).listAll()).items;
    } catch (error) {
      // A kind that this cluster does not have.
      if (isStatusError(error, 'NotFound')) return [];
      throw error;
    }
  }
}
