import { PersistentVolumeClaim } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { errorText } from '../../../lib/log.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { Environment } from '../environment.ts';
import { patchMetadata } from '../workload/claim.ts';
import { claimsOf, isInRange, ordinalOf } from './model/identity.ts';
import { claimOwners, isStaleClaim } from './model/retention.ts';

/** The PersistentVolumeClaims of StatefulSets. */
export class StatefulClaims {
  #environment: Pick<Environment, 'client' | 'events'>;
  #cache: Informer;

  constructor(environment: Pick<Environment, 'client' | 'events'>, cache: Informer) {
    this.#environment = environment;
    this.#cache = cache;
  }

  /** All there, and owned as the retention policy says. Claims of ordinals that go are not made again. */
  areRight(set: KubeObject, pod: KubeObject): boolean {
    const ordinal = ordinalOf(set, pod);
    return claimsOf(set, ordinal).every(({ metadata }) => {
      const claim = this.#cache.find(metadata.namespace, metadata.name!);
      return claim ? claimOwners(set, pod, claim) === undefined : !isInRange(set, ordinal) || pod.status?.phase !== 'Pending';
    });
  }

  /** One of them still goes with an earlier Pod. */
  areStale(set: KubeObject, ordinal: number): boolean {
    return claimsOf(set, ordinal).some(({ metadata }) => {
      const claim = this.#cache.find(metadata.namespace, metadata.name!);
      return claim !== undefined && isStaleClaim(set, `${set.metadata.name}-${ordinal}`, claim);
    });
  }

  async create(set: KubeObject, ordinal: number): Promise<void> {
    const { client, events } = this.#environment;
    for (const claim of claimsOf(set, ordinal)) {
      const { name, namespace } = claim.metadata;
      const existing = this.#cache.find(namespace, name!);
      if (existing?.metadata.deletionTimestamp !== undefined) throw new Error(`pvc ${name} is being deleted`);
      if (existing) continue;
      const what = `Claim ${name} Pod ${set.metadata.name}-${ordinal} in StatefulSet ${set.metadata.name}`;
      try {
        await client.resource<KubeObject>(PersistentVolumeClaim, namespace).create(claim);
        events.record(set, { type: 'Normal', reason: 'SuccessfulCreate', message: `Create ${what} success` });
      } catch (error) {
        if (isStatusError(error, 'AlreadyExists')) continue;
        events.record(set, { type: 'Warning', reason: 'FailedCreate', message: `Create ${what} failed error: ${errorText(error)}` });
        throw error;
      }
    }
  }

  async setOwners(set: KubeObject, pod: KubeObject): Promise<void> {
    const { client } = this.#environment;
    for (const { metadata } of claimsOf(set, ordinalOf(set, pod))) {
      const claim = this.#cache.find(metadata.namespace, metadata.name!);
      const ownerReferences = claim && claimOwners(set, pod, claim);
      if (ownerReferences)
        await patchMetadata(client.resource<KubeObject>(PersistentVolumeClaim, metadata.namespace), claim, { ownerReferences });
    }
  }
}
