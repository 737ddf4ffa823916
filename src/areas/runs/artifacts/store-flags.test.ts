import { describe, expect, it } from 'vitest';
import { storeHash } from './model/store-hash.ts';
import { s3Arguments, s3FromFlags } from './store-flags.ts';

const ALL = {
  bucket: 'b',
  prefix: 'p',
  region: 'us-east-1',
  endpoint: 'http://minio:9000',
  forcePathStyle: true,
  credentialsSecretName: 'c',
  uploadPartSize: 5_242_880,
  uploadConcurrency: 2,
};

describe('flags of a store', () => {
  it('are those of the original', () => {
    expect(s3Arguments({ bucket: 'b', forcePathStyle: true, uploadPartSize: 5_242_880 }, 'artifact-')).toEqual([
      '--artifact-s3-bucket',
      'b',
      '--artifact-s3-force-path-style',
      '--artifact-s3-upload-part-size',
      '5242880',
    ]);
  });

  it('tell the same store, by its hash', () => {
    expect(s3FromFlags({ ...ALL, uploadPartSize: '5242880', uploadConcurrency: '2' })).toEqual(ALL);
    const bare = s3FromFlags({ bucket: 'b', prefix: '', forcePathStyle: false });
    expect(storeHash({ driver: 's3', s3: bare })).toBe(storeHash({ driver: 's3', s3: { bucket: 'b' } }));
  });

  it('without a bucket are refused', () => {
    expect(() => s3FromFlags({})).toThrow('it has no bucket');
  });
});
