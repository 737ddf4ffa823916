import type { Json } from '../../../../kube/object.ts';

export const TOKEN_MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const VOLUME_PREFIX = 'kube-api-access-';
/** One hour and seven seconds: kubelets and audits recognise injected tokens by this odd number. */
const TOKEN_SECONDS = 3607;

/** Gives every container of a pod the token, CA and namespace of its service account, unless something is mounted there already. */
export function mountTokenVolume(spec: Json, randomSuffix: () => string): void {
  const existing = spec.volumes?.find((volume: Json) => volume.name.startsWith(VOLUME_PREFIX));
  const name: string = existing?.name ?? VOLUME_PREFIX + randomSuffix();
  let needed = false;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    if (container.volumeMounts?.some((mount: Json) => mount.mountPath === TOKEN_MOUNT_PATH)) continue;
    (container.volumeMounts ??= []).push({ name, readOnly: true, mountPath: TOKEN_MOUNT_PATH });
    needed = true;
  }
  if (needed && !existing) (spec.volumes ??= []).push({ name, projected: tokenVolumeSource() });
}

function tokenVolumeSource(): Json {
  return {
    sources: [
      { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
    ],
    defaultMode: 0o644,
  };
}
