import type { HierarchicalResourceQuota } from '../../../api/hnc.x-k8s.io/v1alpha2/hierarchical-resource-quota.ts';
import { HierarchicalResourceQuotaKind } from '../../../api/hnc.x-k8s.io/v1alpha2/hierarchical-resource-quota.ts';
import { HRQ_LABEL } from '../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { ResourceQuota } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { largest, toResourceList, type ResourceList } from '../../../kube/resource-list.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { ReadonlyForest } from '../forest/forest.ts';
import { limitOf } from './model/namespace-quotas.ts';
import { TreeLedger } from './model/tree-ledger.ts';

const BY_NAMESPACE = 'namespace';

interface Reservation {
  used: ResourceList;
  /** On the monotonic clock. */
  until: number;
}

/** Told which namespace's usage, limits or place changed. */
export type QuotaListener = (namespace: string) => void;

/**
 * The quotas of the tree as they stand: limits, places and usage follow the stored objects, and what was admitted a moment ago counts
 * before it comes back from the store.
 */
export class TreeQuotas {
  readonly ledger = new TreeLedger();
  readonly quotas: Informer<HierarchicalResourceQuota>;
  /** The ResourceQuotas that count for the tree. */
  readonly counts: Informer;
  /** By namespace and ResourceQuota: the version that an admitted usage was written upon. What is not newer is old news. */
  readonly #writtenUpon = new Map<string, bigint>();
  readonly #reservations = new Map<string, Reservation>();
  readonly #lapses = new Map<string, Timer>();
  readonly #listeners = new Set<QuotaListener>();
  readonly #clock: Clock;

  constructor(informers: SharedInformers, forest: ReadonlyForest, clock: Clock) {
    this.#clock = clock;
    this.quotas = informers.get(HierarchicalResourceQuotaKind);
    this.counts = informers.get(ResourceQuota, { labelSelector: `${HRQ_LABEL}=true` });
    this.counts.addIndex(BY_NAMESPACE, ({ metadata }) => [metadata.namespace!]);
    const place = (names: Iterable<string>) => {
      for (const name of names) {
        this.ledger.place(name, forest.get(name)?.parent);
        this.#tell(name);
      }
    };
    forest.onChange(place);
    place(forest.names());
    this.quotas.onChange(({ type, object }) => {
      const { namespace, name } = object.metadata;
      this.ledger.setLimit(namespace!, name!, type === 'deleted' ? undefined : limitOf(object));
      this.#tell(namespace!);
    });
    this.counts.onChange(({ type, object }) => {
      if (type === 'deleted') this.#forget(object);
      else this.#heard(object);
    });
  }

  /** The ResourceQuotas of a namespace that count for the tree. */
  countsIn(namespace: string): KubeObject[] {
    return this.counts.byIndex(BY_NAMESPACE, namespace);
  }

  /** @returns the way to stop */
  onChange(listener: QuotaListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A namespace's usage was admitted: it counts from now on. `quota` is the state that the usage is written upon. */
  admitted(quota: KubeObject, used: ResourceList): void {
    this.#writtenUpon.set(keyOf(quota), BigInt(quota.metadata.resourceVersion ?? 0));
    this.ledger.setUsage(quota.metadata.namespace!, quota.metadata.name!, used);
    this.#tell(quota.metadata.namespace!);
  }

  /**
   * A usage was admitted, here or by another process; it counts until then, or longer when the store shows it.
   * @returns the way to take it back
   */
  reserved(namespace: string, name: string, used: ResourceList, forMs: number): () => void {
    const key = `${namespace}/${name}`;
    const before = this.#reservations.get(key);
    const until = this.#clock.monotonic() + forMs;
    this.#reserve(namespace, name, { used, until });
    return () => this.#reserve(namespace, name, before);
  }

  #reserve(namespace: string, name: string, reservation: Reservation | undefined): void {
    const key = `${namespace}/${name}`;
    this.#lapses.get(key)?.cancel();
    const left = reservation ? reservation.until - this.#clock.monotonic() : 0;
    if (reservation && left > 0) {
      this.#reservations.set(key, reservation);
      this.#lapses.set(
        key,
        this.#clock.setTimer(left, () => this.#reserve(namespace, name, undefined)),
      );
    } else {
      this.#reservations.delete(key);
      this.#lapses.delete(key);
    }
    this.#recount(namespace, name);
  }

  #recount(namespace: string, name: string): void {
    const stored = toResourceList(this.counts.find(namespace, name)?.status?.used);
    const reservation = this.#reservations.get(`${namespace}/${name}`);
    this.ledger.setUsage(namespace, name, reservation ? largest(stored, reservation.used) : stored);
    this.#tell(namespace);
  }

  #heard(quota: KubeObject): void {
    const key = keyOf(quota);
    const upon = this.#writtenUpon.get(key);
    if (upon !== undefined) {
      if (BigInt(quota.metadata.resourceVersion ?? 0) <= upon) return;
      this.#writtenUpon.delete(key);
    }
    this.#recount(quota.metadata.namespace!, quota.metadata.name!);
  }

  #forget(quota: KubeObject): void {
    const { namespace, name } = quota.metadata;
    this.#writtenUpon.delete(keyOf(quota));
    this.ledger.setUsage(namespace!, name!, undefined);
    this.#tell(namespace!);
  }

  #tell(namespace: string): void {
    for (const listener of this.#listeners) listener(namespace);
  }
}

function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return `${namespace}/${name}`;
}
