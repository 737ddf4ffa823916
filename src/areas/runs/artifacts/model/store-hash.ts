import { createHash } from 'node:crypto';
import type { ArtifactStore } from '../../../../api/kruntimes.io/v1alpha1/artifact-store.ts';

/** The order in which the original writes the fields: the hash is of the text. */
const S3_FIELDS = [
  'bucket',
  'prefix',
  'region',
  'endpoint',
  'forcePathStyle',
  'credentialsSecretName',
  'uploadPartSize',
  'uploadConcurrency',
] as const;

/** Names a store: Runs whose artifacts are in the same one have the same maintainer. */
export function storeHash(store: ArtifactStore): string {
  const text = {
    driver: store.driver,
    ...(store.filesystem && { filesystem: { volumeClaimName: store.filesystem.volumeClaimName } }),
    ...(store.s3 && { s3: Object.fromEntries(S3_FIELDS.filter((field) => store.s3![field]).map((field) => [field, store.s3![field]])) }),
  };
  return createHash('sha256')
    .update(escapedAsByGo(JSON.stringify(text)))
    .digest('hex')
    .slice(0, 16);
}

/** Go writes these as escapes in JSON. */
function escapedAsByGo(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
