import { HRQ_LABEL } from '../../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { RunKind } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import type { GroupResource, KubeObject } from '../../../kube/object.ts';
import type { ResourceList } from '../../../kube/resource-list.ts';
import { failure } from '../../../kube/status.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { ReadonlyForest } from '../forest/forest.ts';
import type { RunsInFlight } from './runs-in-flight.ts';
import type { TreeQuotas } from './tree-quotas.ts';

/** How long a write waits for the quotas of a namespace that has just come into the tree. */
const READY_MS = 5000;
/** The watch shows a Run within milliseconds; only a Run that came and went while the watch was broken is never seen. */
const PLACE_MS = 60_000;

/**
 * The tree's say in what one namespace may use, for an API server in the same process: asked in the turn in which the namespace's own
 * quota is charged, so that no other charge can come between.
 */
export class QuotaGuard {
  readonly #tree: TreeQuotas;
  readonly #forest: ReadonlyForest;
  readonly #runs: RunsInFlight;
  readonly #clock: Clock;

  constructor(tree: TreeQuotas, forest: ReadonlyForest, runs: RunsInFlight, clock: Clock) {
    this.#tree = tree;
    this.#forest = forest;
    this.#runs = runs;
    this.#clock = clock;
  }

  /** Whether objects of the kind have places here, which no ResourceQuota counts. */
  hasPlaces({ group, resource }: GroupResource, namespace: string): boolean {
    return group === RunKind.group && resource === RunKind.plural && this.#runs.isLimited(namespace);
  }

  /** @returns why there is no place for one more */
  placeRefusal(namespace: string): string | undefined {
    return this.#runs.refusal(namespace);
  }

  /** @returns the way to give it back */
  takePlace(namespace: string, uid: string): () => void {
    this.#runs.hold(namespace, uid, PLACE_MS);
    return () => this.#runs.release(namespace, uid);
  }

  /** Why the namespace may not use so much; `quota` is its latest state. */
  refusal(quota: KubeObject, used: ResourceList): string | undefined {
    if (!countsForTree(quota)) return undefined;
    const { namespace, name } = quota.metadata;
    return this.#tree.ledger.excess(namespace!, name!, used)?.message;
  }

  /** It will use so much, written upon this state of its quota. */
  charged(quota: KubeObject, used: ResourceList): void {
    if (countsForTree(quota)) this.#tree.admitted(quota, used);
  }

  /** Resolves when everything that limits the namespace is counted in it; undefined when it is already so. What is not counted is not let in. */
  ready(namespace: string): Promise<void> | undefined {
    const waiting = this.#whenReady(namespace);
    // Whoever only asks whether there is something to wait for does not wait.
    waiting?.catch(() => {});
    return waiting;
  }

  #whenReady(namespace: string): Promise<void> | undefined {
    const runs = this.#runs.ready(namespace);
    if (runs) return runs.then(() => this.#whenReady(namespace));
    if (this.#isReady(namespace)) return undefined;
    return new Promise((resolve, reject) => {
      const finish = () => {
        timer.cancel();
        stop();
        if (this.#isReady(namespace)) resolve();
        else reject(failure('ServiceUnavailable', `the quotas of namespace "${namespace}" are not counted yet; try again in a moment`));
      };
      const timer = this.#clock.setTimer(READY_MS, finish);
      const stop = this.#tree.onChange((changed) => {
        if (changed === namespace && this.#isReady(namespace)) finish();
      });
    });
  }

  #isReady(namespace: string): boolean {
    const limits = this.#tree.ledger.limitsFor(namespace);
    if (limits.size === 0 || this.#forest.get(namespace)?.terminating) return true;
    for (const name of limits.keys()) if (this.#tree.counts.find(namespace, name)?.status?.used === undefined) return false;
    return true;
  }
}

function countsForTree({ metadata }: KubeObject): boolean {
  return metadata.labels?.[HRQ_LABEL] === 'true';
}
