import type { Client } from '../../../client/client.ts';
import { Deployment, ReplicaSet, ReplicationController, StatefulSet } from '../../../client/kinds.ts';
import { apiVersionOf, groupResourceOf, type Kind } from '../../../kube/kind.ts';
import { qualifiedResource, type KubeObject, type OwnerReference } from '../../../kube/object.ts';
import { controllerOf } from '../../../kube/ownership.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import type { Environment } from '../environment.ts';
import { workloadInformer } from '../workload/informers.ts';

export interface ExpectedPods {
  count: number;
  /** Some have no controller: nobody can say how many of them there should be. */
  unmanaged: boolean;
}

interface Scale {
  uid: string;
  replicas: number;
}

/** How many Pods the controllers of these Pods mean to have. */
export class ControllerScales {
  #client: Client;
  #caches: Map<string, Informer>;

  constructor(environment: Environment) {
    this.#client = environment.client;
    const kinds: Kind[] = [Deployment, ReplicaSet, ReplicationController, StatefulSet];
    this.#caches = new Map(kinds.map((kind) => [`${apiVersionOf(kind)}/${kind.kind}`, workloadInformer(environment, kind)]));
  }

  get informers(): Iterable<Informer> {
    return this.#caches.values();
  }

  /** @throws Error when a controller has no scale */
  async expectedPods(pods: readonly KubeObject[]): Promise<ExpectedPods> {
    const asked = new Set<string>();
    const scales = new Map<string, number>();
    let unmanaged = false;
    for (const pod of pods) {
      const owner = controllerOf(pod);
      if (!owner) unmanaged = true;
      if (!owner || asked.has(owner.uid)) continue;
      asked.add(owner.uid);
      const scale = this.#cachedScale(owner, pod.metadata.namespace) ?? (await this.#scaleOf(owner, pod.metadata.namespace));
      if (!scale) throw new Error(`found no controllers for pod "${pod.metadata.name}"`);
      scales.set(scale.uid, scale.replicas);
    }
    return { count: [...scales.values()].reduce((sum, replicas) => sum + replicas, 0), unmanaged };
  }

  /** A ReplicaSet of a Deployment counts as the Deployment: during a rollout several share its Pods. */
  #cachedScale(owner: OwnerReference, namespace: string | undefined): Scale | undefined {
    const found = this.#caches.get(`${owner.apiVersion}/${owner.kind}`)?.find(namespace, owner.name);
    if (found?.metadata.uid !== owner.uid) return undefined;
    const above = owner.kind === 'ReplicaSet' ? controllerOf(found) : undefined;
    if (above?.kind === 'Deployment') return this.#cachedScale(above, namespace);
    return { uid: owner.uid, replicas: found.spec?.replicas ?? 1 };
  }

  /** Any other kind that can be scaled. @throws Error for one that cannot */
  async #scaleOf(owner: OwnerReference, namespace: string | undefined): Promise<Scale | undefined> {
    const { resources } = await this.#client.discovery.resources();
    const resource = resources.find((one) => one.kind === owner.kind && apiVersionOf(one) === owner.apiVersion);
    if (!resource) return undefined;
    const scale = await this.#client
      .resource<KubeObject>(resource, namespace)
      .subresource<KubeObject>('scale')
      .get(owner.name)
      .catch((error: unknown) => {
        if (!isStatusError(error, 'NotFound')) throw error;
        return undefined;
      });
    if (!scale && !resource.subresources.includes('scale')) {
      throw new Error(`${qualifiedResource(groupResourceOf(resource))} does not implement the scale subresource`);
    }
    return scale?.metadata.uid === owner.uid ? { uid: owner.uid, replicas: scale.spec?.replicas ?? 0 } : undefined;
  }
}
