import {
  Node,
  PersistentVolume as VolumeKind,
  PersistentVolumeClaim as ClaimKind,
  StorageClass as ClassKind,
} from '../../../client/kinds.ts';
import { DEFAULT_STORAGE_CLASS_ANNOTATIONS, newestMarked } from '../../../kube/default-class.ts';
import { hasFinalizer } from '../../../kube/ownership.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import {
  belongsTo,
  BIND_COMPLETED,
  BOUND_BY_CONTROLLER,
  findVolume,
  isFullyBound,
  namesNoClass,
  SELECTED_NODE,
  storageClassOf,
  waitsForConsumer,
} from '../../../kube/volume-matching.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/volume-objects.ts';
import { Controller } from '../../../runtime/controller.ts';
import { keyOf } from '../../../runtime/informer/object-cache.ts';
import type { Environment, Running } from '../environment.ts';
import { inNamespace, podInformer } from '../workload/informers.ts';
import { LOCAL_PROVISIONER, localStorageClass, localVolume, VOLUME_FOLDER } from './local-volume.ts';

const PROTECTION = 'kubernetes.io/pvc-protection';

/** Claims get volumes: one that is there, or one made on the node that the scheduler chose. Keys are claims. */
export function claimController(environment: Environment): Running {
  const { client, clock, log, metrics, informers, events } = environment;
  const claims = informers.get(ClaimKind);
  const volumes = informers.get(VolumeKind);
  const classes = informers.get(ClassKind);
  const nodes = informers.get(Node);
  const pods = podInformer(environment);
  volumes.addIndex('class', (volume) => [storageClassOf(volume)]);
  claims.addIndex('class', (claim) => [storageClassOf(claim)]);

  const controller = new Controller({
    name: 'persistent-volume-claim',
    clock,
    log,
    metrics,
    concurrency: 2,
    async reconcile(key, { signal }) {
      const claim = claims.get(key);
      if (!claim) return;
      if (claim.metadata.deletionTimestamp !== undefined) await release(claim, signal);
      else if (claim.spec?.volumeName) await followVolume(claim, signal);
      else await findOrMake(claim, signal);
    },
  });

  /** A claim goes when no Pod uses it any more. */
  const release = async (claim: PersistentVolumeClaim, signal: AbortSignal): Promise<void> => {
    if (!hasFinalizer(claim, PROTECTION)) return;
    const { name, namespace } = claim.metadata;
    if (inNamespace(pods, namespace).some((pod) => uses(pod, name!))) return;
    const { resourceVersion } = claim.metadata;
    const finalizers = claim.metadata.finalizers!.filter((finalizer) => finalizer !== PROTECTION);
    await client
      .resource(ClaimKind, namespace)
      .patch(name!, { type: 'merge', patch: { metadata: { resourceVersion, finalizers } } }, { signal });
  };

  const followVolume = async (claim: PersistentVolumeClaim, signal: AbortSignal): Promise<void> => {
    const volume = volumes.get(claim.spec!.volumeName!);
    if (volume && (!volume.spec?.claimRef || belongsTo(volume, claim))) await bind(claim, volume, signal);
    else if (isFullyBound(claim)) {
      const message = volume
        ? 'Bound claim has its volume taken by another'
        : 'Bound claim has lost its PersistentVolume. Data on the volume is lost!';
      if (claim.status?.phase === 'Lost') return;
      await writePhase(claim, { phase: 'Lost' }, signal);
      events.record(claim, { type: 'Warning', reason: 'ClaimLost', message });
    }
  };

  /** Like Kubernetes' controller: a claim that was made before there was a default class gets it now. */
  const giveDefaultClass = async (claim: PersistentVolumeClaim, signal: AbortSignal): Promise<boolean> => {
    if (!namesNoClass(claim)) return false;
    const byName = [...classes.list()].toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
    const chosen = newestMarked(byName, DEFAULT_STORAGE_CLASS_ANNOTATIONS);
    if (!chosen) return false;
    const { name, namespace, resourceVersion } = claim.metadata;
    const patch = { metadata: { resourceVersion }, spec: { storageClassName: chosen.metadata.name } };
    await client.resource(ClaimKind, namespace).patch(name!, { type: 'merge', patch }, { signal });
    return true;
  };

  const findOrMake = async (claim: PersistentVolumeClaim, signal: AbortSignal): Promise<void> => {
    // The change wakes the claim again.
    if (await giveDefaultClass(claim, signal)) return;
    const name = storageClassOf(claim);
    const storageClass = classes.get(name);
    const selected = claim.metadata.annotations?.[SELECTED_NODE];
    const waits = waitsForConsumer(storageClass);
    const candidates = volumes.byIndex('class', name);
    // While a claim waits for its Pod only the scheduler may choose a volume for it.
    const volume = waits ? candidates.find((one) => belongsTo(one, claim)) : findVolume(claim, candidates);
    if (volume) await bind(claim, volume, signal);
    else if (waits && selected === undefined) {
      const message = 'waiting for first consumer to be created before binding';
      events.record(claim, { type: 'Normal', reason: 'WaitForFirstConsumer', message });
    } else if (storageClass?.provisioner === LOCAL_PROVISIONER) {
      if (selected !== undefined) await make(claim, storageClass, selected, signal);
    } else if (storageClass === undefined) {
      const message = name
        ? `storageclass.storage.k8s.io ${JSON.stringify(name)} not found`
        : 'no persistent volumes available for this claim and no storage class is set';
      events.record(claim, { type: name ? 'Warning' : 'Normal', reason: name ? 'ProvisioningFailed' : 'FailedBinding', message });
    }
  };

  const make = async (
    claim: PersistentVolumeClaim,
    storageClass: NonNullable<ReturnType<typeof classes.get>>,
    selected: string,
    signal: AbortSignal,
  ): Promise<void> => {
    const node = nodes.get(selected);
    const folder = node?.metadata.annotations?.[VOLUME_FOLDER];
    if (!node || !folder) {
      const message = `Cannot make a volume on node "${selected}": it offers none; the Pod goes to another node`;
      events.record(claim, { type: 'Warning', reason: 'ProvisioningFailed', message });
      // Taking the choice back sends the Pod to another node.
      const { name, namespace, resourceVersion } = claim.metadata;
      const metadata = { resourceVersion, annotations: { [SELECTED_NODE]: null } };
      await client.resource(ClaimKind, namespace).patch(name!, { type: 'merge', patch: { metadata } }, { signal });
      return;
    }
    const hostname = node.metadata.labels?.['kubernetes.io/hostname'] ?? selected;
    const volume = localVolume(claim, storageClass, { name: selected, folder, hostname });
    try {
      await client.resource(VolumeKind).create(volume, { signal });
      const message = `Successfully provisioned volume ${volume.metadata.name}`;
      events.record(claim, { type: 'Normal', reason: 'ProvisioningSucceeded', message });
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error;
    }
    // The watch on volumes wakes the claim, which is bound then.
  };

  /** First the volume, then the claim: a volume is never given twice. */
  const bind = async (claim: PersistentVolumeClaim, volume: PersistentVolume, signal: AbortSignal): Promise<void> => {
    const { name, namespace, uid, annotations } = claim.metadata;
    const volumeName = volume.metadata.name!;
    if (volume.spec?.claimRef?.uid !== uid) {
      const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid };
      const metadata = { resourceVersion: volume.metadata.resourceVersion, annotations: { [BOUND_BY_CONTROLLER]: 'yes' } };
      await client.resource(VolumeKind).patch(volumeName, { type: 'merge', patch: { metadata, spec: { claimRef } } }, { signal });
    }
    let current = claim;
    if (!isFullyBound(claim)) {
      const own = claim.spec?.volumeName ? {} : { [BOUND_BY_CONTROLLER]: 'yes' };
      const metadata = { uid, annotations: { ...annotations, ...own, [BIND_COMPLETED]: 'yes' } };
      const patch = { metadata, spec: { volumeName } };
      current = await client.resource(ClaimKind, namespace).patch(name!, { type: 'merge', patch }, { signal });
    }
    if (current.status?.phase === 'Bound') return;
    const capacity = { storage: volume.spec?.capacity?.storage };
    await writePhase(current, { phase: 'Bound', accessModes: volume.spec?.accessModes, capacity }, signal);
  };

  const writePhase = async ({ metadata }: PersistentVolumeClaim, status: object, signal: AbortSignal): Promise<void> => {
    const { name, namespace, uid } = metadata;
    await client.resource(ClaimKind, namespace).status.patch(name!, { type: 'merge', patch: { metadata: { uid }, status } }, { signal });
  };

  let offered = false;
  const offerClass = async (): Promise<void> => {
    try {
      await client.resource(ClassKind).create(localStorageClass());
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) log.warn('cannot make the storage class of local volumes', { error });
    }
  };

  return controller
    .watch(claims)
    .watch(volumes, ({ object }) => {
      const reference = object.spec?.claimRef;
      if (reference) return [`${reference.namespace}/${reference.name}`];
      return claims
        .byIndex('class', storageClassOf(object))
        .filter(({ spec }) => !spec?.volumeName)
        .map(keyOf);
    })
    .watch(classes, ({ object }) =>
      [...claims.byIndex('class', object.metadata.name!), ...claims.byIndex('class', '').filter(namesNoClass)]
        .filter(({ spec }) => !spec?.volumeName)
        .map(keyOf),
    )
    .watch(nodes, ({ object }) => {
      if (!offered && object.metadata.annotations?.[VOLUME_FOLDER]) {
        offered = true;
        void offerClass();
      }
      return [];
    })
    .watch(pods, ({ type, object }) => {
      if (type === 'added' || (type === 'modified' && !isFinished(object))) return [];
      return claimNames(object).map((name) => `${object.metadata.namespace}/${name}`);
    })
    .start();
}

function uses(pod: KubeObject, claim: string): boolean {
  return !isFinished(pod) && claimNames(pod).includes(claim);
}

function claimNames(pod: KubeObject): string[] {
  const names: string[] = [];
  for (const volume of pod.spec?.volumes ?? []) {
    if (volume.persistentVolumeClaim) names.push(volume.persistentVolumeClaim.claimName);
    else if (volume.ephemeral) names.push(`${pod.metadata.name}-${volume.name}`);
  }
  return names;
}

function isFinished({ status }: KubeObject): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
