import type { Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { RUNS_IN_FLIGHT } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import { Quantity } from '../../../kube/quantity.ts';
import type { ResourceList } from '../../../kube/resource-list.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { ReadonlyForest } from '../forest/forest.ts';
import { unfinishedRuns } from '../unfinished-runs.ts';
import { runsLimitOf } from './model/namespace-quotas.ts';
import { TreeLedger } from './model/tree-ledger.ts';
import type { QuotaListener, TreeQuotas } from './tree-quotas.ts';

/** What all Runs are counted in: no ResourceQuota knows when a Run has ended. */
const COUNTED_IN = RUNS_IN_FLIGHT;

/** For so long it is remembered that a Run has ended: a reservation of it may still be around. */
const REMEMBERED_MS = 10_000;

/**
 * The Runs of every branch of the tree that have not ended, against the limits on them. A Run counts from the moment in which a place
 * was given to it, and is followed from the first limit on.
 */
export class RunsInFlight {
  readonly #ledger = new TreeLedger();
  readonly #informers: SharedInformers;
  readonly #clock: Clock;
  #runs: Informer<Run> | undefined;
  /** By namespace: the Runs that the store shows. */
  readonly #seen = new Map<string, Set<string>>();
  /** By namespace: Runs that were let in and are not seen yet. */
  readonly #places = new Map<string, Map<string, Timer>>();
  /** When Runs ended, oldest first. */
  readonly #ended = new Map<string, number>();
  readonly #listeners = new Set<QuotaListener>();

  constructor(informers: SharedInformers, tree: TreeQuotas, forest: ReadonlyForest, clock: Clock) {
    this.#informers = informers;
    this.#clock = clock;
    const place = (names: Iterable<string>) => {
      for (const name of names) this.#ledger.place(name, forest.get(name)?.parent);
    };
    forest.onChange(place);
    place(forest.names());
    tree.quotas.onChange(({ type, object }) => {
      const limit = type === 'deleted' ? undefined : runsLimitOf(object, COUNTED_IN);
      this.#ledger.setLimit(object.metadata.namespace!, object.metadata.name!, limit);
      if (limit) this.#follow();
    });
  }

  isLimited(namespace: string): boolean {
    return this.#runs !== undefined && this.#ledger.limitsFor(namespace).size > 0;
  }

  /** Resolves when all Runs that are in flight are known; undefined when it is already so. */
  ready(namespace: string): Promise<void> | undefined {
    return this.#runs?.synced === false && this.isLimited(namespace) ? this.#runs.whenSynced() : undefined;
  }

  /** Why there is no place for one more Run. */
  refusal(namespace: string): string | undefined {
    return this.#ledger.excess(namespace, COUNTED_IN, runs(this.#count(namespace) + 1))?.message;
  }

  /** The Run counts until then, or for as long as the store shows it. */
  hold(namespace: string, uid: string, forMs: number): void {
    if (this.#seen.get(namespace)?.has(uid) || this.#ended.has(uid)) return;
    const places = this.#places.get(namespace) ?? new Map<string, Timer>();
    this.#places.set(namespace, places);
    places.get(uid)?.cancel();
    places.set(
      uid,
      this.#clock.setTimer(forMs, () => this.release(namespace, uid)),
    );
    this.#recount(namespace);
  }

  /** The Run was not made after all. */
  release(namespace: string, uid: string): void {
    this.#forgetPlace(namespace, uid);
    this.#recount(namespace);
  }

  /** What a quota's branch uses of it; empty when it does not limit Runs. */
  used(namespace: string, quota: string): ResourceList {
    return this.#ledger.used(namespace, quota);
  }

  /** The quotas that the Runs of a namespace count for. */
  limitsFor(namespace: string): { namespace: string; quota: string }[] {
    return [...this.#ledger.limitsFor(namespace).values()].flat();
  }

  onChange(listener: QuotaListener): void {
    this.#listeners.add(listener);
  }

  #follow(): void {
    if (this.#runs) return;
    this.#runs = unfinishedRuns(this.#informers);
    this.#runs.onChange(({ type, object }) => {
      const { namespace, uid } = object.metadata;
      if (type === 'modified') return;
      const seen = this.#seen.get(namespace!) ?? new Set<string>();
      if (type === 'added') seen.add(uid!);
      else {
        seen.delete(uid!);
        this.#remember(uid!);
      }
      if (seen.size > 0) this.#seen.set(namespace!, seen);
      else this.#seen.delete(namespace!);
      this.#forgetPlace(namespace!, uid!);
      this.#recount(namespace!);
    });
  }

  #remember(uid: string): void {
    const now = this.#clock.monotonic();
    this.#ended.set(uid, now);
    for (const [ended, at] of this.#ended) {
      if (now - at < REMEMBERED_MS) break;
      this.#ended.delete(ended);
    }
  }

  #forgetPlace(namespace: string, uid: string): void {
    const places = this.#places.get(namespace);
    places?.get(uid)?.cancel();
    places?.delete(uid);
    if (places?.size === 0) this.#places.delete(namespace);
  }

  #count(namespace: string): number {
    return (this.#seen.get(namespace)?.size ?? 0) + (this.#places.get(namespace)?.size ?? 0);
  }

  #recount(namespace: string): void {
    const count = this.#count(namespace);
    this.#ledger.setUsage(namespace, COUNTED_IN, count > 0 ? runs(count) : undefined);
    for (const listener of this.#listeners) listener(namespace);
  }
}

function runs(count: number): ResourceList {
  return new Map([[RUNS_IN_FLIGHT, Quantity.parse(String(count))]]);
}
