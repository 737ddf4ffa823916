import { describe, expect, it } from 'vitest';
import { storeHash } from './store-hash.ts';

describe('storeHash', () => {
  it('is that of the original', () => {
    expect(storeHash({ driver: 'filesystem', filesystem: { volumeClaimName: 'artifacts' } })).toBe('8ec520a69bdef1d2');
    expect(
      storeHash({
        driver: 's3',
        s3: {
          uploadConcurrency: 2,
          uploadPartSize: 5_242_880,
          credentialsSecretName: 'c',
          forcePathStyle: true,
          endpoint: 'http://minio:9000',
          region: 'us-east-1',
          prefix: 'p',
          bucket: 'b',
        },
      }),
    ).toBe('496c98f40a523607');
  });

  it('leaves out what is empty', () => {
    const plain = storeHash({ driver: 's3', s3: { bucket: 'b' } });
    expect(storeHash({ driver: 's3', s3: { bucket: 'b', prefix: '', forcePathStyle: false } })).toBe(plain);
    expect(storeHash({ driver: 's3', s3: { bucket: 'c' } })).not.toBe(plain);
  });
});
