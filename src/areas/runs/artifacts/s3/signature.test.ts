import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { EMPTY_PAYLOAD_HASH, escaped, signedHeaders } from './signature.ts';

const CREDENTIALS = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
const NOW = new Date('2013-05-24T00:00:00Z');
const HOST = 'https://examplebucket.s3.amazonaws.com';
const WELCOME = createHash('sha256').update('Welcome to Amazon S3.').digest('hex');

/** The examples of Amazon's own documentation. */
describe('signedHeaders', () => {
  it.each<[string, string, string, Record<string, string>, string, string]>([
    [
      'an object with a range',
      'GET',
      '/test.txt',
      { range: 'bytes=0-9' },
      EMPTY_PAYLOAD_HASH,
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ],
    [
      'an upload',
      'PUT',
      `/${escaped('test$file.text')}`,
      { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      WELCOME,
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    ],
    [
      'a query without a value',
      'GET',
      '/?lifecycle',
      {},
      EMPTY_PAYLOAD_HASH,
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    ],
    ['a list', 'GET', '/?max-keys=2&prefix=J', {}, EMPTY_PAYLOAD_HASH, '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
  ])('signs %s', (_name, method, path, headers, payloadHash, signature) => {
    const signed = signedHeaders({ method, url: new URL(path, HOST), headers, payloadHash }, CREDENTIALS, 'us-east-1', NOW);
    expect(signed['authorization']).toMatch(new RegExp(`Signature=${signature}$`));
  });

  it('tells the token of a session', () => {
    const request = { method: 'GET', url: new URL('/x', HOST), headers: {}, payloadHash: EMPTY_PAYLOAD_HASH };
    const signed = signedHeaders(request, { ...CREDENTIALS, sessionToken: 't' }, 'us-east-1', NOW);
    expect(signed['x-amz-security-token']).toBe('t');
    expect(signed['authorization']).toContain('x-amz-security-token');
  });
});
