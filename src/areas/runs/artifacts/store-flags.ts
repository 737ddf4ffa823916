import type { ArtifactStore } from '../../../api/kruntimes.io/v1alpha1/artifact-store.ts';

type S3 = NonNullable<ArtifactStore['s3']>;

/** The fields of an S3 store, as flags of the programs that use it. Names are those of the original. */
const S3_FLAGS = {
  bucket: 's3-bucket',
  prefix: 's3-prefix',
  region: 's3-region',
  endpoint: 's3-endpoint',
  forcePathStyle: 's3-force-path-style',
  credentialsSecretName: 's3-credentials-secret-name',
  uploadPartSize: 's3-upload-part-size',
  uploadConcurrency: 's3-upload-concurrency',
} as const satisfies Record<keyof S3, string>;

/** What a program is started with to use the store. @param prefix of the flags: runtimed and the maintainer have different ones */
export function s3Arguments(s3: S3, prefix: '' | 'artifact-'): string[] {
  return Object.entries(S3_FLAGS).flatMap(([field, flag]) => {
    const value = s3[field as keyof S3];
    if (value === undefined || value === '' || value === false) return [];
    return value === true ? [`--${prefix}${flag}`] : [`--${prefix}${flag}`, String(value)];
  });
}

/** What comes of such flags: the same description, so that its hash is the same. */
export function s3FromFlags(flags: Partial<Record<keyof S3, string | boolean>>): S3 {
  const bucket = flags.bucket;
  if (typeof bucket !== 'string' || bucket === '') throw new Error('Cannot use an S3 store: it has no bucket; give --artifact-s3-bucket');
  const text = (field: 'prefix' | 'region' | 'endpoint' | 'credentialsSecretName') =>
    typeof flags[field] === 'string' && flags[field] !== '' ? { [field]: flags[field] } : {};
  const number = (field: 'uploadPartSize' | 'uploadConcurrency') => (Number(flags[field]) > 0 ? { [field]: Number(flags[field]) } : {});
  return {
    bucket,
    ...text('prefix'),
    ...text('region'),
    ...text('endpoint'),
    ...(flags.forcePathStyle === true ? { forcePathStyle: true } : {}),
    ...text('credentialsSecretName'),
    ...number('uploadPartSize'),
    ...number('uploadConcurrency'),
  };
}
