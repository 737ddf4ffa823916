import type { Json, KubeObject } from '../../../../kube/object.ts';

/** The kinds of objects that a Pod names, and its node may read because of that. */
export type ReferencedResource = 'secrets' | 'configmaps' | 'persistentvolumeclaims' | 'serviceaccounts';

const MIRROR = 'kubernetes.io/config.mirror';

/** Whether a Pod names an object of its namespace. */
export function refersTo(pod: KubeObject, resource: ReferencedResource, name: string): boolean {
  // A node made it itself: it would give itself rights.
  if (pod.metadata.annotations?.[MIRROR] !== undefined) return false;
  const spec: Json = pod.spec ?? {};
  switch (resource) {
    case 'serviceaccounts':
      return spec.serviceAccountName === name;
    case 'persistentvolumeclaims':
      return volumesOf(spec).some(
        (volume) =>
          volume.persistentVolumeClaim?.claimName === name || (volume.ephemeral && `${pod.metadata.name}-${volume.name}` === name),
      );
    case 'configmaps':
      return inContainers(spec, 'configMapKeyRef', 'configMapRef', name) || volumesOf(spec).some((volume) => hasConfigMap(volume, name));
    case 'secrets':
      return (
        (spec.imagePullSecrets ?? []).some((reference: Json) => reference.name === name) ||
        inContainers(spec, 'secretKeyRef', 'secretRef', name) ||
        volumesOf(spec).some((volume) => hasSecret(volume, name))
      );
  }
}

function volumesOf(spec: Json): Json[] {
  return spec.volumes ?? [];
}

function inContainers(spec: Json, key: 'configMapKeyRef' | 'secretKeyRef', all: 'configMapRef' | 'secretRef', name: string): boolean {
  const containers: Json[] = [...(spec.containers ?? []), ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
  return containers.some(
    ({ env, envFrom }) =>
      (env ?? []).some((variable: Json) => variable.valueFrom?.[key]?.name === name) ||
      (envFrom ?? []).some((source: Json) => source[all]?.name === name),
  );
}

function hasConfigMap({ configMap, projected }: Json, name: string): boolean {
  return configMap?.name === name || (projected?.sources ?? []).some((source: Json) => source.configMap?.name === name);
}

const SECRET_REFERENCES = ['flexVolume', 'cephfs', 'rbd', 'iscsi', 'scaleIO', 'storageos'] as const;

function hasSecret(volume: Json, name: string): boolean {
  const { secret, projected, azureFile, csi } = volume;
  return (
    secret?.secretName === name ||
    azureFile?.secretName === name ||
    csi?.nodePublishSecretRef?.name === name ||
    (projected?.sources ?? []).some((source: Json) => source.secret?.name === name) ||
    SECRET_REFERENCES.some((kind) => volume[kind]?.secretRef?.name === name)
  );
}
