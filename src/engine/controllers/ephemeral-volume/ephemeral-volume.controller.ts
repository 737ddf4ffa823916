import { PersistentVolumeClaim } from '../../../client/kinds.ts';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { isControlledBy, ownerReference } from '../../../kube/ownership.ts';
import { isStatusError } from '../../../kube/status.ts';
import { Controller } from '../../../runtime/controller.ts';
import { splitKey } from '../../../runtime/informer/object-cache.ts';
import type { Environment, Running } from '../environment.ts';
import { podInformer } from '../workload/informers.ts';

/** Makes the claims of volumes that live as long as their Pod (`ephemeral`); the garbage collector removes them with it. Keys are Pods. */
export function ephemeralVolumeController(environment: Environment): Running {
  const { client, clock, log, metrics, informers, events } = environment;
  const pods = podInformer(environment);
  const claims = informers.get(PersistentVolumeClaim);

  const controller = new Controller({
    name: 'ephemeral-volume',
    clock,
    log,
    metrics,
    concurrency: 2,
    async reconcile(key, { signal }) {
      const { namespace } = splitKey(key);
      const pod = pods.get(key);
      if (!pod || pod.metadata.deletionTimestamp !== undefined) return;
      for (const volume of ephemeralVolumes(pod)) {
        try {
          await ensureClaim(pod, volume, namespace!, signal);
        } catch (error) {
          const message = `ephemeral volume ${volume.name}: ${(error as Error).message}`;
          events.record(pod, { type: 'Warning', reason: 'FailedBinding', message });
          throw error;
        }
      }
    },
  });

  const ensureClaim = async (pod: KubeObject, volume: Json, namespace: string, signal: AbortSignal): Promise<void> => {
    const name = claimName(pod, volume);
    const existing = claims.find(namespace, name);
    if (existing) {
      if (isControlledBy(existing, pod)) return;
      throw new Error(`PVC ${namespace}/${name} was not created for pod ${namespace}/${pod.metadata.name} (pod is not owner)`);
    }
    const { metadata: { annotations, labels } = {} as Json, spec } = volume.ephemeral.volumeClaimTemplate;
    const ownerReferences = [ownerReference(pod, { controller: true, blockOwnerDeletion: true })];
    try {
      await client
        .resource(PersistentVolumeClaim, namespace)
        .create({ metadata: { name, annotations, labels, ownerReferences }, spec }, { signal });
    } catch (error) {
      // The cache may not have heard of it yet, whoever made it: the watch on claims brings us back.
      if (!isStatusError(error, 'AlreadyExists')) throw new Error(`create PVC ${name}: ${(error as Error).message}`, { cause: error });
    }
  };

  return controller
    .watch(pods, ({ type, object }) => (type === 'added' && ephemeralVolumes(object).length > 0 ? [keyOf(object)] : []))
    .watch(claims, ({ type, object }) => {
      // A claim that somebody removed is made again; one that was in the way of ours is looked at again.
      const owner = object.metadata.ownerReferences?.find(({ kind, controller: controls }) => kind === 'Pod' && controls);
      return owner && type !== 'modified' ? [`${object.metadata.namespace}/${owner.name}`] : [];
    })
    .start();
}

export function claimName(pod: KubeObject, volume: Json): string {
  return `${pod.metadata.name}-${volume.name}`;
}

function ephemeralVolumes({ spec }: KubeObject): Json[] {
  return (spec?.volumes ?? []).filter(({ ephemeral }: Json) => ephemeral);
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}
