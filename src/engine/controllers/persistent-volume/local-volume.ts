import { Quantity } from '../../../kube/quantity.ts';
import type { ObjectMeta } from '../../../kube/object.ts';
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../../kube/volume-objects.ts';
import { BOUND_BY_CONTROLLER, PROVISIONED_BY, requestOf } from '../../../kube/volume-matching.ts';

/** The provisioner of volumes that are folders of a node. */
export const LOCAL_PROVISIONER = 'tenantry.dev/local';
export const LOCAL_CLASS = 'local';
/** On a Node: the folder under which it keeps volumes. A node without it offers none. */
export const VOLUME_FOLDER = 'tenantry.dev/volume-folder';
/** On a PersistentVolume: its node takes this away when the folder is gone. */
export const FOLDER_FINALIZER = 'tenantry.dev/local-volume';

/** The class that comes with the first node that offers volumes. */
export function localStorageClass(): { metadata: ObjectMeta; [field: string]: unknown } {
  return {
    metadata: { name: LOCAL_CLASS, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: LOCAL_PROVISIONER,
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'WaitForFirstConsumer',
  };
}

/** A claim of the same uid gets a volume of the same name, so that trying twice makes one volume. */
export function volumeName({ metadata }: PersistentVolumeClaim): string {
  return `pvc-${metadata.uid}`;
}

/** The volume of a claim on its node; the node makes the folder when a Pod first needs it. */
export function localVolume(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  node: { name: string; folder: string; hostname: string },
): { metadata: ObjectMeta; spec: PersistentVolume['spec'] } {
  const name = volumeName(claim);
  const { metadata, spec } = claim;
  return {
    metadata: {
      name,
      annotations: { [PROVISIONED_BY]: LOCAL_PROVISIONER, [BOUND_BY_CONTROLLER]: 'yes' },
      finalizers: [FOLDER_FINALIZER],
    },
    spec: {
      capacity: { storage: new Quantity(requestOf(claim).nano, 'BinarySI').toString() },
      accessModes: spec?.accessModes,
      volumeMode: spec?.volumeMode,
      storageClassName: storageClass.metadata.name,
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy === 'Retain' ? 'Retain' : 'Delete',
      mountOptions: storageClass.mountOptions,
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: metadata.namespace, name: metadata.name, uid: metadata.uid },
      local: { path: `${node.folder.replace(/\/$/, '')}/${name}` },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node.hostname] }] }],
        },
      },
    },
  };
}
