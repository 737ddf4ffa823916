import { ORIGINAL_HASH, PLACED_FROM_LABEL } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import type { Client } from '../../../client/client.ts';
import { isContained } from '../../../kube/is-contained.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { keyOf, splitKey } from '../../../runtime/informer/object-cache.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { mergeDifference } from '../../../runtime/steps/merge-difference.ts';
import { COPIED_KINDS, copyOf, type CopiedKind } from './model/copies.ts';

export interface ObjectCopiesOptions {
  hostClient: Client;
  tenantClient: Client;
  tenant: string;
  host: SharedInformers;
  inside: SharedInformers;
  /** `<plural> <namespace>/<name>` */
  enqueue(key: string): void;
}

const FIELD_MANAGER = 'tenantry-placement';

/** Copies of everything but Runs: as the originals are, put back when they are changed or deleted inside. */
export class ObjectCopies {
  readonly #options: ObjectCopiesOptions;
  readonly #kinds = new Map<string, { copied: CopiedKind; copies: Informer; originals: Map<string, Informer> }>();

  constructor(options: ObjectCopiesOptions) {
    this.#options = options;
    const labelSelector = `${PLACED_FROM_LABEL}=${options.tenant}`;
    for (const copied of COPIED_KINDS) {
      const { plural } = copied.kind;
      const copies = options.inside.get(copied.kind, { labelSelector });
      copies.onChange(({ object }) => options.enqueue(`${plural} ${keyOf(object)}`));
      this.#kinds.set(plural, { copied, copies, originals: new Map() });
    }
  }

  open(namespace: string): void {
    for (const { copied, originals } of this.#kinds.values()) {
      const informer = this.#options.host.get(copied.kind, { namespace });
      originals.set(namespace, informer);
      informer.onChange(({ object }) => this.#options.enqueue(`${copied.kind.plural} ${keyOf(object)}`));
    }
  }

  close(namespace: string): void {
    for (const { copied, originals } of this.#kinds.values()) {
      originals.delete(namespace);
      this.#options.host.release(copied.kind, { namespace });
    }
  }

  /** There is an original, and no copy yet. */
  isMissing(plural: string, key: string): boolean {
    const { copies, originals } = this.#kinds.get(plural)!;
    const original = originals.get(splitKey(key).namespace!);
    return original?.synced !== true || (original.get(key) !== undefined && copies.get(key) === undefined);
  }

  /** Its copy has yet to become what the original is known to be. */
  isBehind(plural: string, key: string): boolean {
    const original = this.#kinds.get(plural)!.originals.get(splitKey(key).namespace!)?.get(key);
    return original !== undefined && this.#differs(plural, key, original);
  }

  /**
   * Its copy has yet to become what the original is. The server is asked: a Secret that was made before a Run may come later than the Run,
   * because the watches of different kinds are not in step.
   */
  async isBehindServer(plural: string, key: string): Promise<boolean> {
    const { copied } = this.#kinds.get(plural)!;
    const { namespace, name } = splitKey(key);
    let original: KubeObject;
    try {
      original = await this.#options.hostClient.resource(copied.kind, namespace).get(name);
    } catch (error) {
      // As on the host, it begins without.
      if (isStatusError(error, 'NotFound')) return false;
      throw error;
    }
    return this.#differs(plural, key, original);
  }

  #differs(plural: string, key: string, original: KubeObject): boolean {
    const { copied, copies } = this.#kinds.get(plural)!;
    const wanted = copyOf(copied, original, this.#options.tenant);
    return wanted !== undefined && hashOf(wanted) !== hashOf(copies.get(key));
  }

  async keep(plural: string, key: string, signal: AbortSignal): Promise<void> {
    const { copied, copies, originals } = this.#kinds.get(plural)!;
    const originalsHere = originals.get(splitKey(key).namespace!);
    if (originalsHere === undefined) return;
    await Promise.all([originalsHere.whenSynced(signal), copies.whenSynced(signal)]);
    const original = originalsHere.get(key);
    const copy = copies.get(key);
    const wanted = original && copyOf(copied, original, this.#options.tenant);
    if (wanted === undefined) return copy ? this.#remove(copied, copy) : undefined;
    if (copy === undefined || !isSame(wanted, copy)) await this.#apply(copied, wanted);
    else if (copied.reportsStatus) await this.#report(copied, original!, copy);
  }

  async #apply({ kind }: CopiedKind, wanted: KubeObject): Promise<void> {
    const resource = this.#options.tenantClient.resource(kind, wanted.metadata.namespace);
    try {
      await resource.apply(wanted, { fieldManager: FIELD_MANAGER, force: true });
    } catch (error) {
      // What cannot be changed, such as data that was declared so, is made anew, as it was on the host.
      if (!isStatusError(error, 'Invalid')) throw error;
      await resource.delete(wanted.metadata.name!);
      await resource.apply(wanted, { fieldManager: FIELD_MANAGER, force: true });
    }
  }

  async #remove({ kind }: CopiedKind, { metadata }: KubeObject): Promise<void> {
    if (metadata.deletionTimestamp !== undefined) return;
    try {
      const resource = this.#options.tenantClient.resource(kind, metadata.namespace);
      await resource.delete(metadata.name!, { preconditions: { uid: metadata.uid } });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }

  /** Generations are counted on each side: what is told is whether the newest was seen. */
  async #report({ kind }: CopiedKind, original: KubeObject, copy: KubeObject): Promise<void> {
    if (copy.status === undefined) return;
    const isCurrent = copy.status.observedGeneration === copy.metadata.generation;
    const observed = isCurrent ? original.metadata.generation : original.status?.observedGeneration;
    const conditions = copy.status.conditions?.map((condition: object) => ({ ...condition, observedGeneration: observed }));
    const status = { ...copy.status, ...(conditions && { conditions }), observedGeneration: observed };
    const difference = mergeDifference(original.status ?? {}, status);
    if (difference === undefined) return;
    const { namespace, name, resourceVersion } = original.metadata;
    const patch = { metadata: { resourceVersion }, status: difference };
    await this.#options.hostClient.resource(kind, namespace).status.patch(name!, { type: 'merge', patch });
  }
}

function isSame(wanted: KubeObject, copy: KubeObject): boolean {
  return hashOf(wanted) === hashOf(copy) && isContained(wanted, copy);
}

function hashOf(copy: KubeObject | undefined): string | undefined {
  return copy?.metadata.annotations?.[ORIGINAL_HASH];
}
