import { Pod, ReplicaSet, ReplicationController } from '../../../client/kinds.ts';
import type { Kind } from '../../../kube/kind.ts';
import { labelSelectorMatcher, labelSetSelector, type LabelMatcher } from '../../../kube/label-selector.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { controllerOf, isControlledBy } from '../../../kube/ownership.ts';
import { errorText } from '../../../lib/log.ts';
import { Controller, type ReconcileContext, type ReconcileResult } from '../../../runtime/controller.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { Environment, Running } from '../environment.ts';
import { claim } from '../workload/claim.ts';
import { Expectations } from '../workload/expectations.ts';
import { controlledBy, controlledOrOrphaned, podInformer, wakeOwners, workloadInformer } from '../workload/informers.ts';
import type { NewObject } from '../workload/model/pod-from-template.ts';
import { isActive, isTerminating, nextAvailability } from '../workload/model/pod-state.ts';
import { PodControl } from '../workload/pod-control.ts';
import { writeStatus } from '../workload/write-status.ts';
import { manageReplicas } from './manage-replicas.ts';
import { replicaStatus } from './model/status.ts';

interface Variant {
  name: string;
  kind: Kind;
  selector(set: KubeObject): LabelMatcher;
  countsTerminating: boolean;
}

export function replicaSetController(environment: Environment): Running {
  const selector = (set: KubeObject): LabelMatcher => labelSelectorMatcher(set.spec?.selector);
  return replicasController(environment, { name: 'replica-set', kind: ReplicaSet, selector, countsTerminating: true });
}

export function replicationController(environment: Environment): Running {
  const selector = (set: KubeObject): LabelMatcher => labelSetSelector(set.spec?.selector);
  return replicasController(environment, {
    name: 'replication-controller',
    kind: ReplicationController,
    selector,
    countsTerminating: false,
  });
}

function replicasController(environment: Environment, variant: Variant): Running {
  const { clock, log, metrics } = environment;
  const sets = workloadInformer(environment, variant.kind);
  const pods = podInformer(environment);
  const expectations = new Expectations(pods, () => clock.now());
  const worker = new ReplicasReconciler(environment, variant, sets, pods, expectations);
  const controller = new Controller({
    name: variant.name,
    clock,
    log,
    metrics,
    concurrency: 5,
    reconcile: (key, context) => worker.reconcile(key, context),
  });
  const selects = (set: KubeObject, pod: KubeObject): boolean => variant.selector(set).matches(pod.metadata.labels);
  controller
    .watch(sets)
    .watch(pods, wakeOwners(variant.kind, sets, selects))
    .start();
  return {
    async stop() {
      expectations.close();
      await controller.stop();
    },
  };
}

class ReplicasReconciler {
  #environment: Environment;
  #variant: Variant;
  #sets: Informer;
  #pods: Informer;
  #expectations: Expectations;
  #control: PodControl;

  constructor(environment: Environment, variant: Variant, sets: Informer, pods: Informer, expectations: Expectations) {
    this.#environment = environment;
    this.#variant = variant;
    this.#sets = sets;
    this.#pods = pods;
    this.#expectations = expectations;
    this.#control = new PodControl(environment);
  }

  async reconcile(key: string, { signal }: ReconcileContext): Promise<ReconcileResult | void> {
    const { client, clock } = this.#environment;
    const set = this.#sets.get(key);
    if (!set) {
      this.#expectations.forget(key);
      return undefined;
    }
    const wait = this.#expectations.pending(key);
    const candidates = controlledOrOrphaned(this.#pods, set);
    const active = await this.#claim(set, candidates.filter(isActive));
    let failure: unknown;
    if (wait === 0 && set.metadata.deletionTimestamp === undefined) failure = await this.#manage(key, set, active, signal);
    const now = clock.now();
    const matcher = this.#variant.selector(set);
    const terminating = this.#variant.countsTerminating
      ? candidates.filter((pod) => isTerminating(pod) && isControlledBy(pod, set) && matcher.matches(pod.metadata.labels)).length
      : undefined;
    const status = replicaStatus(set, { active, terminating, failure: failure === undefined ? undefined : errorText(failure) }, now);
    await writeStatus(client, this.#variant.kind, set, status);
    if (failure !== undefined) throw failure;
    // Timers: nothing changes when a ready Pod has been so for minReadySeconds, or when a write never shows up.
    const next = nextAvailability(active, set.spec.minReadySeconds ?? 0, now);
    if (next !== undefined) return { afterMs: next };
    return wait > 0 ? { afterMs: wait } : undefined;
  }

  #claim(set: KubeObject, candidates: KubeObject[]): Promise<KubeObject[]> {
    const { client } = this.#environment;
    const { namespace, name } = set.metadata;
    const matcher = this.#variant.selector(set);
    return claim(set, candidates, {
      objects: client.resource<KubeObject>(Pod, namespace),
      readOwner: () => client.resource<KubeObject>(this.#variant.kind, namespace).get(name!),
      matches: ({ metadata }) => matcher.matches(metadata.labels),
    });
  }

  #manage(key: string, set: KubeObject, active: KubeObject[], signal: AbortSignal): Promise<unknown> {
    const ports = {
      create: async (pod: NewObject) => {
        const created = await this.#control.create(set, pod, signal);
        if (created) this.#expectations.created(key, created);
      },
      delete: async (pod: KubeObject) => {
        await this.#control.delete(set, pod, signal);
        this.#expectations.deleted(key, pod);
      },
      related: () => this.#siblings(set).flatMap((sibling) => controlledBy(this.#pods, sibling)),
    };
    return manageReplicas(set, active, ports, this.#environment.clock.now());
  }

  #siblings(set: KubeObject): KubeObject[] {
    const owner = controllerOf(set);
    return owner ? controlledBy(this.#sets, { metadata: { uid: owner.uid } }) : [set];
  }
}
