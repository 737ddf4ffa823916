import { beforeEach, describe, expect, it } from 'vitest';
import { issueSelfSigned } from '../../../../lib/pki/certificate.ts';
import { generateKeys } from '../../../../lib/pki/key-files.ts';
import { X509Certificate } from 'node:crypto';
import { START, TestIdentity } from '../testing-identity.ts';
import type { Credentials } from '../user.ts';
import { bearerToken } from './authenticator.ts';
import { distinctIdentityHeaders } from './identity-headers.ts';

let test: TestIdentity;
beforeEach(() => {
  test = new TestIdentity();
});

const authenticate = (credentials: Partial<Credentials>) => test.identity.authenticator.authenticate({ headers: {}, ...credentials });
const unauthorized = expect.objectContaining({
  status: expect.objectContaining({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' }),
});
const refusal = (credentials: Partial<Credentials>): unknown => {
  try {
    return authenticate(credentials);
  } catch (error) {
    return error;
  }
};

function certificate(commonName: string, organizations: string[], uid?: string): NonNullable<Credentials['certificate']> {
  const { privateKey, publicKey } = generateKeys();
  const template = {
    subject: { commonName, organizations },
    publicKey,
    usages: ['client auth'],
    notBefore: new Date(START),
    notAfter: new Date(START + 3600_000),
  };
  return { commonName, organizations, uid, raw: new X509Certificate(issueSelfSigned(template, privateKey)).raw };
}

describe('a client certificate', () => {
  it('names user, groups and uid', () => {
    const user = authenticate({ certificate: certificate('ann', ['devs', 'ops'], 'u1') });
    expect(user).toMatchObject({ name: 'ann', uid: 'u1', groups: ['devs', 'ops', 'system:authenticated'] });
    expect(user?.extra?.['authentication.kubernetes.io/credential-id'][0]).toMatch(/^X509SHA256=[0-9a-f]{64}$/);
  });

  it('gives the same user object for every request of a connection', () => {
    const shown = certificate('ann', []);
    expect(authenticate({ certificate: shown })).toBe(authenticate({ certificate: shown }));
  });

  it('is refused once it has expired on an open connection', () => {
    const shown = certificate('ann', []);
    expect(authenticate({ certificate: shown })?.name).toBe('ann');
    test.now = START + 3601_000;
    expect(refusal({ certificate: shown })).toEqual(unauthorized);
  });

  it('identifies nobody without a common name', () => {
    expect(authenticate({ certificate: certificate('', ['system:masters']) })).toBeUndefined();
  });

  it('that was not verified is refused, unless a token is good', () => {
    expect(refusal({ badCertificate: 'DEPTH_ZERO_SELF_SIGNED_CERT' })).toEqual(unauthorized);
    const { token } = test.identity.issuer.issue({
      account: test.account('a', 'robot'),
      audiences: test.identity.apiAudiences,
      expirationSeconds: 600,
    });
    const user = authenticate({ badCertificate: 'DEPTH_ZERO_SELF_SIGNED_CERT', authorization: `Bearer ${token}` });
    expect(user?.name).toBe('system:serviceaccount:a:robot');
  });
});

describe('a front proxy', () => {
  const headers = {
    'x-remote-user': 'ann',
    'x-remote-uid': 'u1',
    'x-remote-group': ['devs', 'a, b'],
    'x-remote-extra-scopes': ['x', 'y'],
    'x-remote-extra-example.com%2fkey': 'z',
  };

  it('says who its client is', () => {
    expect(authenticate({ frontProxyCommonName: 'front-proxy-client', headers })).toEqual({
      name: 'ann',
      uid: 'u1',
      groups: ['devs', 'a, b', 'system:authenticated'],
      extra: { scopes: ['x', 'y'], 'example.com/key': ['z'] },
    });
  });

  it('is not believed without its certificate', () => {
    expect(authenticate({ headers })).toBeUndefined();
    expect(authenticate({ headers, certificate: certificate('bob', []) })?.name).toBe('bob');
  });

  it('is refused with a name that is not on the list', () => {
    expect(refusal({ frontProxyCommonName: 'someone', headers })).toEqual(unauthorized);
    expect(test.refused[0]).toContain('x509: subject with cn=someone is not in the allowed list');
  });

  it('is nobody itself', () => {
    expect(refusal({ frontProxyCommonName: 'front-proxy-client', headers: {} })).toEqual(unauthorized);
  });
});

describe('bearerToken', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['Basic abc', undefined],
    ['Bearer', undefined],
    ['Bearer ', undefined],
    ['Bearer  x', undefined],
    ['Bearer x', 'x'],
    ['bearer x', 'x'],
    ['  BEARER x y z', 'x'],
  ])('of %j is %j', (header, token) => {
    expect(bearerToken(header)).toBe(token);
  });
});

describe('a token among WebSocket subprotocols', () => {
  const offer = (...protocols: string[]) => ({ headers: { upgrade: 'websocket', 'sec-websocket-protocol': protocols.join(', ') } });
  const encoded = (text: string) => `base64url.bearer.authorization.k8s.io.${Buffer.from(text).toString('base64url')}`;

  it('identifies a browser', () => {
    const { token } = test.identity.issuer.issue({
      account: test.account('a', 'robot'),
      audiences: test.identity.apiAudiences,
      expirationSeconds: 600,
    });
    expect(authenticate(offer('v5.channel.k8s.io', encoded(token)))?.name).toBe('system:serviceaccount:a:robot');
  });

  it('is refused alone, twice, or when it is worth nothing', () => {
    expect(refusal(offer(encoded('x')))).toEqual(unauthorized);
    expect(refusal(offer('a', encoded('x'), encoded('y')))).toEqual(unauthorized);
    expect(refusal(offer('a', encoded('x')))).toEqual(unauthorized);
    expect(authenticate(offer('v5.channel.k8s.io'))).toBeUndefined();
  });
});

describe('distinctIdentityHeaders', () => {
  it('keeps repeated lines apart and other headers as they are', () => {
    const joined = { 'impersonate-user': 'ann', 'impersonate-group': 'a, b, c', accept: '*/*' };
    const raw = ['Impersonate-User', 'ann', 'Impersonate-Group', 'a, b', 'accept', '*/*', 'impersonate-group', 'c'];
    expect(distinctIdentityHeaders(joined, raw)).toEqual({
      'impersonate-user': ['ann'],
      'impersonate-group': ['a, b', 'c'],
      accept: '*/*',
    });
  });

  it('returns the very same headers when nobody speaks for another', () => {
    const headers = { accept: '*/*' };
    expect(distinctIdentityHeaders(headers, ['accept', '*/*'])).toBe(headers);
  });
});
