import { DEFAULT_STORAGE_CLASS_ANNOTATIONS, newestMarked } from '../../../kube/default-class.ts';
import type { ObjectReader } from '../registry/objects.ts';
import type { AdmissionPlugin } from './admission.ts';
import { CachedList } from './cached-list.ts';
import { isOn } from './refusal.ts';

const CLAIM_CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';
const DEFAULT_INGRESS_CLASS_ANNOTATIONS = ['ingressclass.kubernetes.io/is-default-class'];
const INGRESS_CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

/** Gives claims that name no storage class the default one. */
export function defaultStorageClass(reader: ObjectReader): AdmissionPlugin {
  const classes = new CachedList(reader, { group: 'storage.k8s.io', resource: 'storageclasses' });
  return {
    name: 'DefaultStorageClass',
    handles: (request) => request.operation === 'CREATE' && request.subresource === '' && isOn(request, '', 'persistentvolumeclaims'),
    mutate({ object }) {
      if (object!.metadata.annotations?.[CLAIM_CLASS_ANNOTATION] !== undefined || object!.spec?.storageClassName !== undefined) return;
      const chosen = newestMarked(classes.in(''), DEFAULT_STORAGE_CLASS_ANNOTATIONS);
      if (chosen) (object!.spec ??= {}).storageClassName = chosen.metadata.name;
    },
  };
}

/** Gives ingresses that name no class the default one. */
export function defaultIngressClass(reader: ObjectReader): AdmissionPlugin {
  const classes = new CachedList(reader, { group: 'networking.k8s.io', resource: 'ingressclasses' });
  return {
    name: 'DefaultIngressClass',
    handles: (request) => request.operation === 'CREATE' && request.subresource === '' && isOn(request, 'networking.k8s.io', 'ingresses'),
    mutate({ object }) {
      if (object!.spec?.ingressClassName !== undefined || object!.metadata.annotations?.[INGRESS_CLASS_ANNOTATION] !== undefined) return;
      const chosen = newestMarked(classes.in(''), DEFAULT_INGRESS_CLASS_ANNOTATIONS);
      if (chosen) (object!.spec ??= {}).ingressClassName = chosen.metadata.name;
    },
  };
}
