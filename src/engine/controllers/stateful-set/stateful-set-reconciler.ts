import { Pod, StatefulSet } from '../../../client/kinds.ts';
import { labelSelectorMatcher } from '../../../kube/label-selector.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { errorText } from '../../../lib/log.ts';
import type { ReconcileContext, ReconcileResult } from '../../../runtime/controller.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { Environment } from '../environment.ts';
import { claim, patchMetadata } from '../workload/claim.ts';
import type { Expectations } from '../workload/expectations.ts';
import { controlledOrOrphaned } from '../workload/informers.ts';
import { nextAvailability } from '../workload/model/pod-state.ts';
import { isNamespaceTerminating } from '../workload/pod-control.ts';
import { claimRevisions, ensureRevision, templateOf, truncateHistory } from '../workload/revisions.ts';
import { writeStatus } from '../workload/write-status.ts';
import type { StatefulClaims } from './claims.ts';
import { identityLabels, ordinalOf, revisionOf, statefulPod } from './model/identity.ts';
import { planStatefulSet, type Action } from './model/plan.ts';
import { statefulStatus } from './model/status.ts';

const HASH_LABEL = 'controller.kubernetes.io/hash';

export interface StatefulCaches {
  sets: Informer;
  pods: Informer;
  revisions: Informer;
}

interface Templates {
  current: KubeObject;
  update: KubeObject;
}

export class StatefulSetReconciler {
  #environment: Environment;
  #caches: StatefulCaches;
  #claims: StatefulClaims;
  #expectations: Expectations;

  constructor(environment: Environment, caches: StatefulCaches, claims: StatefulClaims, expectations: Expectations) {
    this.#environment = environment;
    this.#caches = caches;
    this.#claims = claims;
    this.#expectations = expectations;
  }

  async reconcile(key: string, { signal }: ReconcileContext): Promise<ReconcileResult | void> {
    const { client, clock } = this.#environment;
    const set = this.#caches.sets.get(key);
    if (!set) {
      this.#expectations.forget(key);
      return undefined;
    }
    const pods = await this.#claimPods(set);
    const known = await claimRevisions(client, StatefulSet, set, this.#caches.revisions);
    const { update, all, collisionCount } = await ensureRevision(client, set, known, HASH_LABEL);
    const current = all.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update;
    const now = clock.now();
    const wait = this.#expectations.pending(key);
    let failure: unknown;
    if (set.metadata.deletionTimestamp === undefined && wait === 0) {
      const updateRevision = update.metadata.name!;
      const claimsAreRight = (pod: KubeObject): boolean => this.#claims.areRight(set, pod);
      const actions = planStatefulSet({ set, pods, updateRevision, claimsAreRight, now });
      failure = await this.#perform(key, set, actions, { current, update }, signal);
    }
    const revisions = { current: current.metadata.name!, update: update.metadata.name!, collisionCount };
    await writeStatus(client, StatefulSet, set, statefulStatus(set, pods, revisions, now));
    if (failure !== undefined) throw failure;
    const live = new Set([revisions.current, revisions.update, ...pods.map(revisionOf)]);
    await truncateHistory(client, set, all, ({ metadata }) => live.has(metadata.name!));
    // Timers: Pods become available by age, and writes that never show up are forgotten, without any change.
    const next = nextAvailability(pods, set.spec.minReadySeconds ?? 0, now);
    return next !== undefined ? { afterMs: next } : wait > 0 ? { afterMs: wait } : undefined;
  }

  /** @returns the first failure: the rest is left for the next pass */
  async #perform(key: string, set: KubeObject, actions: readonly Action[], templates: Templates, signal: AbortSignal): Promise<unknown> {
    for (const action of actions) {
      try {
        if (action.type === 'create')
          await this.#create(key, set, action.ordinal, action.current ? templates.current : templates.update, signal);
        else if (action.type === 'delete') await this.#delete(key, set, action.pod, signal);
        else await this.#repair(set, action.pod);
      } catch (error) {
        if (isNamespaceTerminating(error)) return undefined;
        return error;
      }
    }
    return undefined;
  }

  async #create(key: string, set: KubeObject, ordinal: number, revision: KubeObject, signal: AbortSignal): Promise<void> {
    if (this.#claims.areStale(set, ordinal)) return;
    const pod = statefulPod(set, templateOf(revision), revision.metadata.name!, ordinal);
    try {
      await this.#claims.create(set, ordinal);
      const created = await this.#environment.client.resource<KubeObject>(Pod, set.metadata.namespace).create(pod, { signal });
      this.#expectations.created(key, created);
      await this.#claims.setOwners(set, created);
      this.#report(set, 'Create', created);
    } catch (error) {
      // The cache is late: the Pod is there.
      if (isStatusError(error, 'AlreadyExists')) return;
      if (!isNamespaceTerminating(error)) this.#report(set, 'Create', pod, error);
      throw error;
    }
  }

  async #delete(key: string, set: KubeObject, pod: KubeObject, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid } = pod.metadata;
    try {
      await this.#environment.client.resource(Pod, namespace).delete(name!, { preconditions: { uid }, signal });
      this.#expectations.deleted(key, pod);
      this.#report(set, 'Delete', pod);
    } catch (error) {
      if (isStatusError(error, 'NotFound') || isStatusError(error, 'Conflict')) return;
      this.#report(set, 'Delete', pod, error);
      throw error;
    }
  }

  async #repair(set: KubeObject, pod: KubeObject): Promise<void> {
    const { client } = this.#environment;
    const { namespace, name, labels } = pod.metadata;
    const ordinal = ordinalOf(set, pod);
    const identity = identityLabels(name!, ordinal);
    const differs = Object.entries(identity).some(([key, value]) => labels?.[key] !== value);
    if (differs) await patchMetadata(client.resource<KubeObject>(Pod, namespace), pod, { labels: { ...labels, ...identity } });
    if (pod.status?.phase === 'Pending') await this.#claims.create(set, ordinal);
    await this.#claims.setOwners(set, pod);
  }

  #report(set: KubeObject, verb: string, pod: { metadata: { name?: string } }, error?: unknown): void {
    const message = `${verb} Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
    const { events } = this.#environment;
    if (error === undefined) events.record(set, { type: 'Normal', reason: `Successful${verb}`, message: `${message} successful` });
    else events.record(set, { type: 'Warning', reason: `Failed${verb}`, message: `${message} failed error: ${errorText(error)}` });
  }

  #claimPods(set: KubeObject): Promise<KubeObject[]> {
    const { client } = this.#environment;
    const { namespace, name } = set.metadata;
    const matcher = labelSelectorMatcher(set.spec.selector);
    // A Pod with a name of another form is not ours to take.
    const candidates = controlledOrOrphaned(this.#caches.pods, set).filter((pod) => ordinalOf(set, pod) >= 0);
    return claim(set, candidates, {
      objects: client.resource<KubeObject>(Pod, namespace),
      readOwner: () => client.resource<KubeObject>(StatefulSet, namespace).get(name!),
      matches: ({ metadata }) => matcher.matches(metadata.labels),
    });
  }
}
