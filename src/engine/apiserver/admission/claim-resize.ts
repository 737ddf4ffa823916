import type { KubeObject } from '../../../kube/object.ts';
import { Quantity } from '../../../kube/quantity.ts';
import type { ObjectReader } from '../registry/objects.ts';
import type { AdmissionPlugin } from './admission.ts';
import { isOn, refusal } from './refusal.ts';

const STORAGE_CLASSES = { group: 'storage.k8s.io', resource: 'storageclasses' };
const CLAIM_CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

/** A claim grows only when it is bound and its storage class allows volumes to expand. */
export function persistentVolumeClaimResize(reader: ObjectReader): AdmissionPlugin {
  function mayGrow(claim: KubeObject, old: KubeObject): boolean {
    const name = classOf(claim);
    return name !== '' && name === classOf(old) && reader.get(STORAGE_CLASSES, '', name)?.allowVolumeExpansion === true;
  }

  return {
    name: 'PersistentVolumeClaimResize',
    handles: (request) => request.operation === 'UPDATE' && request.subresource === '' && isOn(request, '', 'persistentvolumeclaims'),
    validate(request) {
      const [claim, old] = [request.object!, request.oldObject!];
      if (storageOf(claim).compare(storageOf(old)) <= 0) return;
      if (old.status?.phase !== 'Bound') throw refusal(request, 'Only bound persistent volume claims can be expanded');
      if (mayGrow(claim, old)) return;
      throw refusal(
        request,
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      );
    },
  };
}

function storageOf(claim: KubeObject): Quantity {
  return Quantity.parse(claim.spec?.resources?.requests?.storage ?? '0');
}

function classOf(claim: KubeObject): string {
  return claim.metadata.annotations?.[CLAIM_CLASS_ANNOTATION] ?? claim.spec?.storageClassName ?? '';
}
