import type { AdmissionPlugin, AdmissionRequest } from './admission.ts';

function finalizerFor({ resource: { group, resource } }: AdmissionRequest): string | undefined {
  if (group === '' && resource === 'persistentvolumes') return 'kubernetes.io/pv-protection';
  if (group === '' && resource === 'persistentvolumeclaims') return 'kubernetes.io/pvc-protection';
  if (group === 'storage.k8s.io' && resource === 'volumeattributesclasses') return 'kubernetes.io/vac-protection';
  return undefined;
}

/** Storage that is in use outlives its deletion: a finalizer that a controller takes off when nobody uses it any more. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  handles: (request) => request.operation === 'CREATE' && request.subresource === '' && finalizerFor(request) !== undefined,
  mutate(request) {
    const finalizer = finalizerFor(request)!;
    const finalizers = (request.object!.metadata.finalizers ??= []);
    if (!finalizers.includes(finalizer)) finalizers.push(finalizer);
  },
};
