import { RunKind, type Run } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { isUntouched, UNFINISHED, UNFINISHED_HERE } from '../../../api/kruntimes.io/v1alpha1/run-state.ts';
import { RuntimeKind } from '../../../api/kruntimes.io/v1alpha1/runtime.ts';
import { PLACED_FROM_LABEL, PlacementPhase } from '../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { TENANT_LABEL } from '../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Client } from '../../../client/client.ts';
import { Namespace } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { MetricsRegistry } from '../../../lib/metrics.ts';
import { Controller, type ReconcileResult } from '../../../runtime/controller.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { keyOf, splitKey, toKey } from '../../../runtime/informer/object-cache.ts';
import { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import { nextRunMove, uncertain } from './model/run-move.ts';
import { neededBy } from './model/run-copy.ts';
import { ObjectCopies } from './object-copies.ts';
import { RunWrites, type RunPair } from './run-writes.ts';

export interface PlacementOptions {
  hostClient: Client;
  tenantClient: Client;
  tenant: string;
  /** Its name, which is unique on the host: that of its tenant. */
  cluster: string;
  clock: Clock;
  log: Log;
  metrics?: MetricsRegistry;
  /** The state may be another. */
  onChange(): void;
}

export interface PlacementState {
  phase: PlacementPhase;
  left: number;
}

const CONCURRENCY = 8;
/** States are told once for all that changed. */
const TELL_MS = 100;
/** What stands in the way is inside the cluster, where no watch of ours is. */
const AGAIN_MS = 500;
/** The cluster may refuse what a Run waits for, for as long as it is there: such a Run is looked at ever less often. */
const LONGEST_AGAIN_MS = 30_000;
const BY_NAMESPACE = 'namespace';
const RUNS = 'runs';
const NAMESPACES = 'namespaces';

/**
 * Keeps one tenant's Runtimes and Runs in its cluster: originals on the host, copies inside, in namespaces of the same names. What is
 * wanted goes in, what became of it comes out. Everything is found again from the two API servers; nothing is remembered here.
 */
export class ClusterPlacement {
  readonly #options: PlacementOptions;
  readonly #host: SharedInformers;
  readonly #inside: SharedInformers;
  readonly #writes: RunWrites;
  readonly #objects: ObjectCopies;
  readonly #controller: Controller;
  /** Runs of the host that work in the cluster. */
  readonly #taken: Informer<Run>;
  /** Runs of the host that have ended, and whose artifacts are in the cluster. */
  readonly #withArtifacts: Informer<Run>;
  readonly #copies: Informer<Run>;
  readonly #namespaceCopies: Informer;
  readonly #placed = new Set<string>();
  readonly #opened = new Map<string, Informer<Run>>();
  /** Runs that were taken or copied just now: until a watch shows it, they are neither here nor there. */
  readonly #underWay = new Set<string>();
  /** Runs whose Runtimes or Secrets have yet to come, and since when. */
  readonly #ahead = new Map<string, number>();
  /** Namespaces of others with Runs that say that they work here: who has a runtimed can write that, and it must not hold up this tenant. */
  readonly #foreign = new Set<string>();
  #timer: Timer | undefined;
  #told = '';
  /** Where everything is in place nothing is counted: Runs come and go there all the time. */
  #isSettled = false;

  constructor(options: PlacementOptions) {
    const { hostClient, tenantClient, tenant, cluster, clock, log, metrics } = options;
    this.#options = options;
    this.#host = new SharedInformers({ client: hostClient, log });
    this.#inside = new SharedInformers({ client: tenantClient, log });
    this.#writes = new RunWrites({ hostClient, tenantClient, tenant, cluster, now: () => clock.now() });
    this.#controller = new Controller({
      name: 'placement',
      clock,
      log,
      metrics,
      concurrency: CONCURRENCY,
      reconcile: (key, { signal }) => this.#reconcile(key, signal),
    });
    const labelSelector = `${PLACED_FROM_LABEL}=${tenant}`;
    this.#taken = this.#host.get(RunKind, { fieldSelector: `${UNFINISHED},status.placedIn=${cluster}` });
    this.#withArtifacts = this.#host.get(RunKind, {
      fieldSelector: `status.placedIn=${cluster},status.artifactStore.driver!=`,
      transform: withoutOutput,
    });
    this.#copies = this.#inside.get(RunKind, { labelSelector });
    this.#namespaceCopies = this.#inside.get(Namespace, { labelSelector, metadataOnly: true });
    this.#objects = new ObjectCopies({
      ...options,
      host: this.#host,
      inside: this.#inside,
      enqueue: (key) => this.#controller.queue.add(key),
    });
    for (const informer of [this.#taken, this.#copies]) informer.addIndex(BY_NAMESPACE, ({ metadata }) => [metadata.namespace!]);
    for (const informer of [this.#taken, this.#withArtifacts, this.#copies])
      this.#controller.watch(informer, (change) => [`${RUNS} ${keyOf(change.object)}`]);
    this.#controller.watch(this.#namespaceCopies, ({ object }) => [`${NAMESPACES} ${object.metadata.name}`]);
    this.#controller.start();
  }

  /** From now on the Runs of these namespaces begin in the cluster, and of no others. */
  setNamespaces(names: readonly string[]): void {
    const wanted = new Set(names);
    const changed = [...new Set([...wanted, ...this.#placed])].filter((name) => wanted.has(name) !== this.#placed.has(name));
    for (const name of changed) {
      if (wanted.has(name)) {
        this.#placed.add(name);
        this.#open(name);
      } else {
        this.#placed.delete(name);
        this.#close(name);
      }
      this.#enqueueNamespace(name);
    }
    if (changed.length > 0) this.#isSettled = false;
  }

  /** What is known of it now; undefined until everything was listed. */
  state(): PlacementState | undefined {
    const candidates = [...this.#placed].map((name) => this.#opened.get(name)!);
    if ([this.#taken, this.#copies, this.#namespaceCopies, ...candidates].some(({ synced }) => !synced)) return undefined;
    let left = 0;
    for (const runs of candidates) for (const run of runs.list()) if (!isUntouched(run)) left++;
    const missing = [...this.#placed].some((name) => this.#namespaceCopies.get(name) === undefined);
    // What is on its way out, Pods of Runtimes mostly, has nothing left to tell.
    const isLeaving = ({ metadata }: KubeObject) => !this.#placed.has(metadata.name!) && metadata.deletionTimestamp === undefined;
    const leaving = [...this.#namespaceCopies.list()].filter(isLeaving).length;
    const elsewhere = new Set<string>(this.#underWay);
    for (const informer of [this.#taken, this.#copies]) for (const run of informer.list()) elsewhere.add(keyOf(run));
    const isOut = (namespace: string) => !this.#placed.has(namespace) && !this.#foreign.has(namespace);
    const inside = [...elsewhere].filter((key) => isOut(splitKey(key).namespace!)).length;
    if (inside > 0 || leaving > 0) return { phase: PlacementPhase.Draining, left: inside };
    if (this.#placed.size === 0) return { phase: PlacementPhase.Empty, left: 0 };
    return { phase: left > 0 || missing ? PlacementPhase.Placing : PlacementPhase.Placed, left };
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    await Promise.all([this.#controller.stop(), this.#host.stop(), this.#inside.stop()]);
    this.#timer?.cancel();
  }

  #open(namespace: string): void {
    const runs = this.#host.get(RunKind, { namespace, fieldSelector: UNFINISHED_HERE });
    this.#opened.set(namespace, runs);
    runs.onChange(({ object }) => this.#controller.queue.add(`${RUNS} ${keyOf(object)}`));
    this.#objects.open(namespace);
  }

  #close(namespace: string): void {
    this.#opened.delete(namespace);
    this.#host.release(RunKind, { namespace, fieldSelector: UNFINISHED_HERE });
    this.#objects.close(namespace);
  }

  #enqueueNamespace(name: string): void {
    this.#controller.queue.add(`${NAMESPACES} ${name}`);
    for (const informer of [this.#taken, this.#copies])
      for (const run of informer.byIndex(BY_NAMESPACE, name)) this.#controller.queue.add(`${RUNS} ${keyOf(run)}`);
  }

  async #reconcile(work: string, signal: AbortSignal): Promise<ReconcileResult | void> {
    const [what, key] = work.split(' ');
    try {
      if (what === NAMESPACES) return await this.#keepNamespace(key);
      if (what === RUNS) return await this.#keepRun(key);
      const { namespace } = splitKey(key);
      // Those of a namespace that is left go with it, when nobody works with them any more.
      if (!this.#placed.has(namespace!)) return;
      if (this.#namespaceCopies.get(namespace!) === undefined) return { afterMs: AGAIN_MS };
      return await this.#objects.keep(what, key, signal);
    } finally {
      this.#tellLater();
    }
  }

  async #keepNamespace(name: string): Promise<void> {
    const existing = this.#namespaceCopies.get(name);
    const namespaces = this.#options.tenantClient.resource(Namespace);
    if (this.#placed.has(name)) {
      if (existing !== undefined) return;
      const metadata = { name, labels: { [PLACED_FROM_LABEL]: this.#options.tenant } };
      await namespaces.apply({ apiVersion: 'v1', kind: 'Namespace', metadata }, { fieldManager: 'tenantry', force: true });
      return;
    }
    if (existing === undefined || existing.metadata.deletionTimestamp !== undefined) return;
    const isBusy = [this.#taken, this.#copies].some((informer) => informer.byIndex(BY_NAMESPACE, name).length > 0);
    if (isBusy) return;
    try {
      await namespaces.delete(name, { preconditions: { uid: existing.metadata.uid } });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }

  async #keepRun(key: string): Promise<ReconcileResult | void> {
    const namespace = splitKey(key).namespace!;
    const placed = this.#placed.has(namespace);
    if (placed && !this.#opened.get(namespace)!.synced) return { afterMs: AGAIN_MS };
    const cached = this.#cached(key);
    const isOurs = await this.#isOfTenant(namespace);
    if (isOurs || cached === undefined) this.#foreign.delete(namespace);
    else this.#foreign.add(namespace);
    const original = cached ?? (isOurs ? await absent(this.#original(key)) : undefined);
    const pair: RunPair = { original, copy: this.#copies.get(key) };
    const facts = { placed, cluster: this.#options.cluster };
    const decide = () => nextRunMove(pair.original, pair.copy, facts);
    const seen = decide();
    // Nobody is asked for as long as the caches say that it would be in vain.
    if (seen.type === 'create' && this.#isAhead(pair.original!)) return this.#later(key);
    const asked = uncertain(seen, pair.copy);
    if (asked === 'original' && cached !== undefined) pair.original = await absent(this.#original(key));
    if (asked === 'copy') pair.copy = await absent(this.#options.tenantClient.resource(RunKind, namespace).get(splitKey(key).name));
    const move = decide();
    if (move.type === 'create' && (await this.#isAheadOfCaches(pair.original!))) return this.#later(key);
    this.#ahead.delete(key);
    // Said before it is done: nobody may take the cluster for empty meanwhile.
    if (move.type === 'take' || move.type === 'create') this.#underWay.add(key);
    else this.#underWay.delete(key);
    await this.#writes.make(move, pair);
    // A Run that has ended is in no watch: what is next for its copy is done now.
    if (move.type === 'freeOriginal' && pair.copy !== undefined) this.#controller.queue.add(`${RUNS} ${key}`);
    if (pair.copy === undefined && !placed) this.#controller.queue.add(`${NAMESPACES} ${namespace}`);
  }

  /** What it needs has yet to come: a Run that is older than a restricted Runtime would be refused, and one without its Secrets fails. */
  #isAhead({ metadata, spec }: Run): boolean {
    const { namespace } = metadata;
    if (this.#namespaceCopies.get(namespace!) === undefined || this.#objects.isMissing(RuntimeKind.plural, toKey(namespace, spec.runtime)))
      return true;
    return neededBy(spec).some(({ plural, name }) => this.#objects.isBehind(plural, toKey(namespace, name)));
  }

  async #isAheadOfCaches(run: Run): Promise<boolean> {
    if (this.#isAhead(run)) return true;
    const { namespace } = run.metadata;
    for (const { plural, name } of neededBy(run.spec)) if (await this.#objects.isBehindServer(plural, toKey(namespace, name))) return true;
    return false;
  }

  #later(key: string): ReconcileResult {
    const now = this.#options.clock.monotonic();
    const since = this.#ahead.get(key) ?? now;
    this.#ahead.set(key, since);
    return { afterMs: Math.min(Math.max((now - since) / 2, AGAIN_MS), LONGEST_AGAIN_MS) };
  }

  #cached(key: string): Run | undefined {
    return this.#taken.get(key) ?? this.#opened.get(splitKey(key).namespace!)?.get(key) ?? this.#withArtifacts.get(key);
  }

  /** Copies are in the hands of the cluster's administrators, who may make some with the names of anybody's Runs. */
  async #isOfTenant(namespace: string): Promise<boolean> {
    if (this.#placed.has(namespace)) return true;
    const found = await absent(this.#options.hostClient.resource(Namespace).get(namespace));
    return found?.metadata.labels?.[TENANT_LABEL] === this.#options.tenant;
  }

  #original(key: string): Promise<Run> {
    const { namespace, name } = splitKey(key);
    return this.#options.hostClient.resource(RunKind, namespace).get(name);
  }

  #tellLater(): void {
    if (this.#isSettled) return;
    this.#timer ??= this.#options.clock.setTimer(TELL_MS, () => {
      this.#timer = undefined;
      const state = this.state();
      this.#isSettled = state?.phase === PlacementPhase.Placed || state?.phase === PlacementPhase.Empty;
      const now = JSON.stringify(state);
      if (now === this.#told) return;
      this.#told = now;
      this.#options.onChange();
    });
  }
}

async function absent<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** Only that it is there, and when it is to go, matters of a Run that has ended. */
function withoutOutput(run: Run): Run {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, finalizers } = run.metadata;
  const metadata = {
    name,
    namespace,
    uid,
    resourceVersion,
    ...(deletionTimestamp && { deletionTimestamp }),
    ...(finalizers && { finalizers }),
  };
  return {
    ...run,
    metadata,
    spec: { runtime: run.spec.runtime, mode: {} },
    status: { phase: run.status!.phase, placedIn: run.status!.placedIn },
  };
}
