import type { Client } from '../../../client/client.ts';
import { Deployment, ReplicaSet } from '../../../client/kinds.ts';
import { deepEqual } from '../../../kube/json-value.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Environment } from '../environment.ts';
import { writeStatus } from '../workload/write-status.ts';
import { findNewSet, REVISION, sizeAnnotations } from './model/revisions.ts';
import { replicasOf, type Resize } from './model/sizes.ts';

/**
 * One look at one Deployment: what is known of it and its sets, kept current across the writes of the pass. Every write carries the version
 * that was read; when somebody else was faster it is a Conflict and the next pass looks again.
 */
export class Pass {
  deployment: KubeObject;
  newSet: KubeObject | undefined;
  old: KubeObject[];
  #environment: Pick<Environment, 'client' | 'clock' | 'events'>;

  constructor(environment: Pick<Environment, 'client' | 'clock' | 'events'>, deployment: KubeObject, sets: readonly KubeObject[]) {
    this.#environment = environment;
    this.deployment = deployment;
    this.newSet = findNewSet(deployment, sets);
    this.old = sets.filter((set) => set !== this.newSet);
  }

  get client(): Client {
    return this.#environment.client;
  }

  get all(): KubeObject[] {
    return this.newSet ? [...this.old, this.newSet] : this.old;
  }

  now(): number {
    return this.#environment.clock.now();
  }

  sets() {
    return this.client.resource<KubeObject>(ReplicaSet, this.deployment.metadata.namespace);
  }

  event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#environment.events.record(this.deployment, { type, reason, message });
  }

  async writeStatus(status: Json): Promise<void> {
    this.deployment = await writeStatus(this.client, Deployment, this.deployment, status);
  }

  /** The Deployment carries the revision of its newest set. */
  async writeRevision(revision: string | undefined): Promise<void> {
    const { namespace, name, resourceVersion, annotations } = this.deployment.metadata;
    if (revision === undefined || annotations?.[REVISION] === revision) return;
    const patch = { metadata: { resourceVersion, annotations: { [REVISION]: revision } } };
    this.deployment = await this.client.resource<KubeObject>(Deployment, namespace).patch(name!, { type: 'merge', patch });
  }

  async updateSet(set: KubeObject, next: KubeObject): Promise<KubeObject> {
    const updated = await this.sets().update(next);
    if (this.newSet === set) this.newSet = updated;
    else this.old = this.old.map((other) => (other === set ? updated : other));
    return updated;
  }

  /** @returns whether any set changed its size. */
  async resize(resizes: readonly Resize[]): Promise<boolean> {
    let resized = false;
    for (const { set, replicas } of resizes) {
      const before = replicasOf(set);
      const annotations = { ...set.metadata.annotations, ...sizeAnnotations(this.deployment) };
      if (before === replicas && deepEqual(annotations, set.metadata.annotations ?? {})) continue;
      await this.updateSet(set, { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, replicas } });
      if (before === replicas) continue;
      resized = true;
      const direction = before < replicas ? 'up' : 'down';
      this.event('Normal', 'ScalingReplicaSet', `Scaled ${direction} replica set ${set.metadata.name} from ${before} to ${replicas}`);
    }
    return resized;
  }

  async deleteSet(set: KubeObject): Promise<void> {
    const { name, uid } = set.metadata;
    try {
      await this.sets().delete(name!, { preconditions: { uid } });
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }
}
