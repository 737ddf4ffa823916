import type { ArtifactStore } from '../../../../../api/kruntimes.io/v1alpha1/artifact-store.ts';
import { ARTIFACT_PATH, ARTIFACT_VOLUME } from '../../../../../api/kruntimes.io/v1alpha1/names.ts';
import type { Json } from '../../../../../kube/object.ts';
import { s3Arguments } from '../../../artifacts/store-flags.ts';

/** What a container needs to reach an artifact store: its volume, or its credentials. */
export interface ArtifactAccess {
  volumes: Json[];
  volumeMounts: Json[];
  envFrom: Json[];
}

export function artifactAccess(store: ArtifactStore | undefined): ArtifactAccess {
  const claim = store?.filesystem?.volumeClaimName;
  const secret = store?.s3?.credentialsSecretName;
  return {
    volumes: claim === undefined ? [] : [{ name: ARTIFACT_VOLUME, persistentVolumeClaim: { claimName: claim } }],
    volumeMounts: claim === undefined ? [] : [{ name: ARTIFACT_VOLUME, mountPath: ARTIFACT_PATH }],
    envFrom: secret === undefined ? [] : [{ secretRef: { name: secret } }],
  };
}

/** How runtimed is told of the store. */
export function runtimedStoreArguments(store: ArtifactStore | undefined): string[] {
  if (store === undefined) return [];
  const driver = ['--artifact-store-driver', store.driver];
  if (store.s3 !== undefined) return [...driver, ...s3Arguments(store.s3, 'artifact-')];
  return [...driver, '--artifact-store-root', ARTIFACT_PATH, '--artifact-volume-claim', store.filesystem!.volumeClaimName];
}
