import { DaemonSet, Pod } from '../../../client/kinds.ts';
import { labelSelectorMatcher } from '../../../kube/label-selector.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { ReconcileContext, ReconcileResult } from '../../../runtime/controller.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { Environment } from '../environment.ts';
import { claim } from '../workload/claim.ts';
import type { Expectations } from '../workload/expectations.ts';
import { controlledOrOrphaned } from '../workload/informers.ts';
import { nextAvailability } from '../workload/model/pod-state.ts';
import { PodControl } from '../workload/pod-control.ts';
import { claimRevisions, ensureRevision, truncateHistory, type History } from '../workload/revisions.ts';
import { allAtOnce, slowStart } from '../workload/slow-start.ts';
import { writeStatus } from '../workload/write-status.ts';
import { FailedPodBackOff } from './failed-pod-back-off.ts';
import { daemonPod, HASH_LABEL, targetNode } from './model/daemon-pod.ts';
import { daemonCounts, planDaemons, type DaemonState } from './model/plan.ts';
import { rollingUpdateStep } from './model/rolling-update.ts';

/** At most so many Pods are created or deleted in one pass. */
const BURST = 250;

export interface DaemonCaches {
  sets: Informer;
  pods: Informer;
  nodes: Informer;
  revisions: Informer;
}

export class DaemonSetReconciler {
  #environment: Environment;
  #caches: DaemonCaches;
  #expectations: Expectations;
  #control: PodControl;
  #backOff = new FailedPodBackOff();

  constructor(environment: Environment, caches: DaemonCaches, expectations: Expectations) {
    this.#environment = environment;
    this.#caches = caches;
    this.#expectations = expectations;
    this.#control = new PodControl(environment);
  }

  async reconcile(key: string, { signal }: ReconcileContext): Promise<ReconcileResult | void> {
    const { client, clock } = this.#environment;
    const set = this.#caches.sets.get(key);
    if (!set || set.metadata.deletionTimestamp !== undefined) {
      this.#expectations.forget(key);
      if (set) this.#backOff.forget(`${set.metadata.uid}/`);
      return undefined;
    }
    const pods = await this.#claim(set);
    const history = await ensureRevision(client, set, await claimRevisions(client, DaemonSet, set, this.#caches.revisions), HASH_LABEL);
    const hash = history.update.metadata.labels![HASH_LABEL];
    const now = clock.now();
    const state: DaemonState = { set, nodes: [...this.#caches.nodes.list()], podsByNode: byNode(pods), hash, now };
    const wait = this.#expectations.pending(key);
    const { failure, retryMs } = wait > 0 ? { failure: undefined, retryMs: wait } : await this.#manage(key, state, signal);
    await this.#writeStatus(state, history);
    if (failure !== undefined) throw failure;
    const live = new Set(pods.map(({ metadata }) => metadata.labels?.[HASH_LABEL]));
    await truncateHistory(client, set, history.all, (one) => one === history.update || live.has(one.metadata.labels?.[HASH_LABEL]));
    // Timers: neither the end of a back-off nor Pods becoming available by age change anything that a watch sees.
    const waits = [retryMs, nextAvailability(pods, set.spec.minReadySeconds ?? 0, now)].filter((ms) => ms !== undefined);
    return waits.length > 0 ? { afterMs: Math.min(...waits) } : undefined;
  }

  async #manage(key: string, state: DaemonState, signal: AbortSignal): Promise<{ failure: unknown; retryMs?: number }> {
    const { set, now } = state;
    let retryMs: number | undefined;
    const plan = planDaemons(state, (node) => {
      const left = this.#backOff.tryAt(`${set.metadata.uid}/${set.status?.observedGeneration ?? 0}/${node}`, now);
      if (left > 0) retryMs = Math.min(retryMs ?? left, left);
      return left === 0;
    });
    this.#reportFinished(set, plan.finished);
    const step =
      plan.create.length + plan.delete.length > 0 || set.spec.updateStrategy?.type === 'OnDelete' ? plan : rollingUpdateStep(state);
    const failure = await slowStart(Math.min(step.create.length, BURST), async (i) => {
      const created = await this.#control.create(set, daemonPod(set, state.hash, step.create[i]), signal);
      if (created) this.#expectations.created(key, created);
    });
    const deleteFailure = await allAtOnce(Math.min(step.delete.length, BURST), async (i) => {
      await this.#control.delete(set, step.delete[i], signal);
      this.#expectations.deleted(key, step.delete[i]);
    });
    return { failure: failure ?? deleteFailure, retryMs };
  }

  #reportFinished(set: KubeObject, finished: readonly { pod: KubeObject; node: string }[]): void {
    const { events } = this.#environment;
    for (const { pod, node } of finished) {
      const where = `daemon pod ${pod.metadata.namespace}/${pod.metadata.name} on node ${node}`;
      if (pod.status?.phase === 'Failed') {
        events.record(set, { type: 'Warning', reason: 'FailedDaemonPod', message: `Found failed ${where}, will try to kill it` });
      } else
        events.record(set, { type: 'Normal', reason: 'SucceededDaemonPod', message: `Found succeeded ${where}, will try to delete it` });
    }
  }

  async #writeStatus(state: DaemonState, { collisionCount }: History): Promise<void> {
    const { set } = state;
    const { desired, current, misscheduled, ready, updated, available } = daemonCounts(state);
    await writeStatus(this.#environment.client, DaemonSet, set, {
      ...set.status,
      observedGeneration: set.metadata.generation,
      currentNumberScheduled: current,
      desiredNumberScheduled: desired,
      numberMisscheduled: misscheduled,
      numberReady: ready,
      updatedNumberScheduled: updated || undefined,
      numberAvailable: available || undefined,
      numberUnavailable: desired - available || undefined,
      collisionCount,
    });
  }

  #claim(set: KubeObject): Promise<KubeObject[]> {
    const { client } = this.#environment;
    const { namespace, name } = set.metadata;
    const matcher = labelSelectorMatcher(set.spec.selector);
    return claim(set, controlledOrOrphaned(this.#caches.pods, set), {
      objects: client.resource<KubeObject>(Pod, namespace),
      readOwner: () => client.resource<KubeObject>(DaemonSet, namespace).get(name!),
      matches: ({ metadata }) => matcher.matches(metadata.labels),
    });
  }
}

function byNode(pods: readonly KubeObject[]): Map<string, KubeObject[]> {
  const found = new Map<string, KubeObject[]>();
  for (const pod of pods) {
    const node = targetNode(pod);
    if (node === undefined) continue;
    const list = found.get(node);
    if (list) list.push(pod);
    else found.set(node, [pod]);
  }
  return found;
}
